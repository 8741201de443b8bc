import sys

from omegaconf import DictConfig
from torchtune import config


@config.parse
def main(cfg: DictConfig) -> None:
    config.instantiate(cfg.model)
    config.instantiate(cfg.other)


if __name__ == "__main__":
    sys.exit(main())
