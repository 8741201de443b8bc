import sys

from mmengine.config import Config

import net
from registry import MODELS


def main():
    cfg = Config.fromfile(sys.argv[1])
    print(net.__name__, MODELS.build(cfg.model))


if __name__ == "__main__":
    main()
