import sys

from mmengine.config import Config
from mmengine.runner import Runner

import nets

if __name__ == "__main__":
    runner = Runner.from_cfg(Config.fromfile(sys.argv[1]))
    print(nets.__name__, runner)
