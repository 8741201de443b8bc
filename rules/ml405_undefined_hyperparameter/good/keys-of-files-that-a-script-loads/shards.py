import sys

from omegaconf import OmegaConf

meta = OmegaConf.load(sys.argv[1])
for shard in range(meta.shards):
    print(meta.folder, shard)
