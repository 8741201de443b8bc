import sys

from omegaconf import OmegaConf

from tools import build

config = OmegaConf.merge(OmegaConf.load(sys.argv[1]), OmegaConf.from_cli(sys.argv[2:]))
print(build(config.model), config.output)
