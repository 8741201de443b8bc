import os

import hydra


class Trainer:
    def __init__(self, cfg):
        self.steps = cfg.max_step
        self.rate = cfg.rate


@hydra.main(version_base="1.3", config_path="conf", config_name="config")
def main(cfg):
    if os.environ.get("TRAINING"):
        Trainer(cfg)
    print(cfg.rate)


if __name__ == "__main__":
    main()
