import sys

from omegaconf import OmegaConf

from util import build


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.judge = build(self.cfg.judge)


if __name__ == "__main__":
    cfg = OmegaConf.load(sys.argv[1])
    cleaner = build(cfg.model.cleaner)
    print(cleaner, Trainer(cfg).judge)
