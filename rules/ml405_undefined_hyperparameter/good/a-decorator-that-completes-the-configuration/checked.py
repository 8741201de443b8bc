from functools import wraps

from omegaconf import OmegaConf

DEFAULTS = {"steps": 100}


def complete(strict=False):
    def decorate(main):
        @wraps(main)
        def wrapper(cfg, *args):
            whole = OmegaConf.merge(DEFAULTS, cfg)
            return main(whole, *args)

        return wrapper

    return decorate
