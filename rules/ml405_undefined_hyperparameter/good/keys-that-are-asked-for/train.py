import sys

from mmengine.config import Config

from registry import MODELS


def main(options):
    cfg = Config.fromfile(sys.argv[1])
    cfg.merge_from_dict(options)
    cfg.folder = "runs"
    model = MODELS.build(cfg.model)
    print(model, cfg.folder, cfg.filename, cfg.get("seed", 0), cfg.resume)
    if "seed" in cfg and hasattr(cfg, "device"):
        print(cfg.seed, cfg.device)
    try:
        print(cfg.gpus)
    except AttributeError:
        print("no gpus")


if __name__ == "__main__":
    main({})
