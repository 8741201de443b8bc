import torch
from torch import nn


class Stages(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.width = width
        self.inside = 64
        self.stage1 = self._stage(1)
        self.stage2 = self._stage(2)
        self.stage3 = self._stage(2)
        self.head = nn.Linear(width * 2, 10)

    def _stage(self, stride):
        made = nn.Conv2d(self.inside, self.width, 3, stride, 1)
        self._grow()
        return made

    def _grow(self):
        self.inside = self.width
        self.width *= 2

    def forward(self, x):
        x = self.stage3(self.stage2(self.stage1(x)))
        return self.head(x.mean((2, 3)))  # expect: ML501


class Maker:
    def __init__(self):
        self.width = 8

    def layer(self, stride):
        made = nn.Conv2d(self.width, self.width * 2, 3, stride)
        self.width = self.width * 2
        return made


class Made(nn.Module):
    def __init__(self):
        super().__init__()
        maker = Maker()
        self.layer1 = maker.layer(2)
        self.layer2 = maker.layer(2)
        self.head = nn.Linear(32, 2)

    def forward(self, x):
        return self.head(self.layer2(self.layer1(x)).mean((2, 3)))  # expect: ML501


def run():
    stages = Stages(64)
    return stages(torch.randn(1, 64, 32, 32))


print(Made()(torch.randn(1, 8, 32, 32)))
