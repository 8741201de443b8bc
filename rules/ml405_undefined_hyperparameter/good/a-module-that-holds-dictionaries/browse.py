import argparse

from mmengine.config import Config

import nets
from registry import MODELS


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    return parser.parse_args()


def main():
    args = parse_args()
    cfg = Config.fromfile(args.config)
    print(nets.__name__, MODELS.build(cfg.model))
    print(cfg.visualizer)


if __name__ == "__main__":
    main()
