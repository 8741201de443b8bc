import hydra


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg

    def fit(self):
        return self.cfg["optim"]["learning_rate"]  # expect: ML405


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    trainer = Trainer(cfg)
    trainer.fit()


if __name__ == "__main__":
    main()
