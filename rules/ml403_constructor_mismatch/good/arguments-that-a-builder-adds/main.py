import sys

from omegaconf import OmegaConf
from torch import nn

from util import build_dataset, build_optimizer

config = OmegaConf.load(sys.argv[1])
data = build_dataset(config.data, None)
optimizer = build_optimizer(config.optimizer, nn.Linear(2, 2).parameters())
