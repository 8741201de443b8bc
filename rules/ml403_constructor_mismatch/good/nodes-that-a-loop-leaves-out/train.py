import sys

from omegaconf import OmegaConf

from tools import build

config = OmegaConf.load(sys.argv[1])
parts = {}
for name in config:
    if name == "described":
        continue
    parts[name] = build(config[name])
print(parts)
