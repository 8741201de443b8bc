import sys

from mmengine.config import Config

from registry import MODELS


def build(cfg):
    if cfg["type"] == "Pair":
        return MODELS.get("Pair")(build(cfg["first"]), build(cfg["second"]), cfg["rate"])
    return MODELS.build(cfg)


if __name__ == "__main__":
    cfg = Config.fromfile(sys.argv[1])
    print(build(cfg.model))
