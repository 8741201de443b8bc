from dataclasses import dataclass, field
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING


@dataclass
class Optimizer:
    lr: float = 0.1
    name: str = MISSING


@dataclass
class Sgd(Optimizer):
    name: str = "sgd"
    momentum: float = 0.0


@dataclass
class Config:
    optim: Optimizer = MISSING
    steps: int = 10
    notes: dict[str, Any] = field(default_factory=dict)


store = ConfigStore.instance()
store.store(name="base", node=Config)
store.store(group="optim", name="base_sgd", node=Sgd)


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg: Config) -> None:
    print(cfg.optim.lr, cfg.steps)


if __name__ == "__main__":
    main()
