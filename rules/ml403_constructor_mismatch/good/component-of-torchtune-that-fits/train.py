import sys

from omegaconf import DictConfig
from torchtune import config


class Recipe:
    def __init__(self, cfg: DictConfig) -> None:
        self._cfg = cfg
        self._steps = cfg.steps

    def setup(self, cfg: DictConfig) -> None:
        self._model = self._setup_model(cfg_model=cfg.model)
        self._optimizer = config.instantiate(cfg.optimizer, self._model.parameters())

    def _setup_model(self, cfg_model: DictConfig):
        return config.instantiate(cfg_model, depth=self._cfg.depth)


@config.parse
def recipe_main(cfg: DictConfig) -> None:
    recipe = Recipe(cfg=cfg)
    recipe.setup(cfg=cfg)


if __name__ == "__main__":
    sys.exit(recipe_main())
