import sys

from omegaconf import OmegaConf

from tools import build


def build_all(config):
    return {key: build(config[key]) for key in config.keys()}


if __name__ == "__main__":
    config = OmegaConf.load(sys.argv[1])
    extras = build_all(config.pop("extras"))
    parts = {}
    for name in config:
        parts[name] = build(config[name])
    print(extras, parts)
