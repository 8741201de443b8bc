from collections import OrderedDict

import torch
from torch import nn


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Linear(4, 8), nn.Linear(8, 16)])
        self.up = nn.ModuleList([nn.Linear(8, 4), nn.Linear(16, 8)])

    def forward(self, x):
        for layer in self.down:
            x = layer(x)
        for layer in reversed(self.up):
            x = layer(x)
        for layer in self.down:
            x = layer(x)
        for layer in self.up[::-1]:
            x = layer(x)
        for number, layer in enumerate(self.down[:1]):
            x = layer(x)
        return x


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 1)
        self.same = nn.Conv2d(64, 64, 1)
        self.branches = nn.ModuleList([nn.Conv2d(3, 64, 1), nn.Conv2d(3, 64, 3, padding=1)])
        self.last = nn.Conv2d(128, 64, 1)

    def forward(self, x):
        found = [branch(x) for branch in self.branches]
        outputs = []
        for branch in self.branches:
            outputs.append(branch(x))
        x = self.stem(x)
        twice = []
        twice.append(x)
        twice.append(self.same(x))
        return [self.last(torch.cat(one, dim=1)) for one in (found, outputs, twice)]


class EitherList(nn.Module):
    def __init__(self, deep, width=128):
        super().__init__()
        if deep:
            named = [("first", nn.Conv2d(3, 64, 1)), ("second", nn.Conv2d(64, width, 1))]
            layers = [nn.Conv2d(3, 64, 1), nn.Conv2d(64, 32, 1)]
        else:
            named = [("first", nn.Conv2d(3, width, 1))]
            layers = [nn.Conv2d(3, 32, 1)]
        layers.append(nn.ReLU())
        self.named = nn.Sequential(OrderedDict(named))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.named(x), self.net(x)
