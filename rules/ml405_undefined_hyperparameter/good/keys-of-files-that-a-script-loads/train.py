import sys

from omegaconf import OmegaConf

from tools import build


def main():
    run, config = OmegaConf.load("configs/run.yaml"), OmegaConf.load("configs/small.yaml")
    if "ema" in config:
        print(config.ema.decay)
    both = OmegaConf.merge(config, run)
    both.name = "first"
    print(build(both.model), both.steps, both.seed, both.name, config.get("rate", 0.1))


if __name__ == "__main__":
    main()
