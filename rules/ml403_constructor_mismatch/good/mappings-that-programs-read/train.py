import sys

from mmengine.config import Config

from registry import MODELS


def build_loader(cfg):
    return list(range(cfg["workers"]))


if __name__ == "__main__":
    cfg = Config.fromfile(sys.argv[1])
    print(MODELS.build(cfg.model), build_loader(cfg.loader))
