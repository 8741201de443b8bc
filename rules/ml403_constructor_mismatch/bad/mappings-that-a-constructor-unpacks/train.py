import sys

from omegaconf import OmegaConf

from tools import build

print(build(OmegaConf.load(sys.argv[1]).model))
