import sys

from omegaconf import OmegaConf

from tools import build


def main():
    config = OmegaConf.load(sys.argv[1])
    decay = config.ema.decay if hasattr(config, "ema") else None
    print(build(config.model), config.seed, decay)


if __name__ == "__main__":
    main()
