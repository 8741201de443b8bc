import sys

from mmengine.config import Config

from registry import MODELS


def main():
    cfg = Config.fromfile(sys.argv[1])
    model = MODELS.build(cfg.model)
    print(model, cfg.data, cfg.work_dir)


if __name__ == "__main__":
    main()
