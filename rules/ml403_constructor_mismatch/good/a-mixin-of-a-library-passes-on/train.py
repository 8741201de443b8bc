import sys

from mmengine.config import Config
from torch import nn, optim

import schedules
from registry import MODELS, SCHEDULERS

if __name__ == "__main__":
    cfg = Config.fromfile(sys.argv[1])
    optimizer = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
    print(MODELS, schedules.__name__, [SCHEDULERS.build({**one, "optimizer": optimizer}) for one in cfg.param_scheduler])
