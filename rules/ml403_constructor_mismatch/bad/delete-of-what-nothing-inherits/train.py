import sys

from mmengine.config import Config

import nets
from registry import MODELS

if __name__ == "__main__":
    cfg = Config.fromfile(sys.argv[1])
    print(nets.__name__, MODELS.build(cfg.model))
