import sys

from mmengine.config import Config

from registry import MODELS


def main():
    cfg = Config.fromfile(sys.argv[1])
    model = MODELS.build(cfg.modle)  # expect: ML405
    print(model, cfg.model.trunk.dept)  # expect: ML405
    test = Config.fromfile("configs/large.py")
    print(test["outputs"], test["output"])  # expect: ML405


if __name__ == "__main__":
    main()
