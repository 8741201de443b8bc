import sys

from omegaconf import OmegaConf

from util import build

config = OmegaConf.load(sys.argv[1])
config.model.params.unet_config.params.depth = 3
model = build(config.model)
