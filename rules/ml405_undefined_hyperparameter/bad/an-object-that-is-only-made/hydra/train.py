import hydra


class Trainer:
    def __init__(self, cfg):
        self.steps = cfg.max_step  # expect: ML405
        self.rate = cfg.rate


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    Trainer(cfg)


if __name__ == "__main__":
    main()
