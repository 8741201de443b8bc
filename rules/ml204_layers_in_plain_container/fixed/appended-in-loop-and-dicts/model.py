import torch
from torch import nn


class Pyramid(nn.Module):
    def __init__(self, widths, out):
        super().__init__()
        self.laterals = nn.ModuleList()  # expect: ML204
        self.heads = nn.ModuleDict()  # expect: ML204
        self.stems = nn.ModuleDict({"image": nn.Conv2d(3, out, 3), "depth": nn.Conv2d(1, out, 3)})  # expect: ML204
        for width in widths:
            lateral = nn.Conv2d(width, out, 1)
            self.laterals.append(lateral)
            self.heads[str(width)] = nn.Linear(out, width)

    def forward(self, maps, kind):
        maps = [self.laterals[i](x) for i, x in enumerate(maps)]
        return self.fuse([self.stems[kind](x) for x in maps])

    def fuse(self, maps):
        return {name: head(x) for (name, head), x in zip(self.heads.items(), maps)}
