import sys

from omegaconf import OmegaConf

from util import build

config = OmegaConf.load(sys.argv[1])
model = build(config.model)
