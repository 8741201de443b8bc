import torch
from torch import nn


class Chain(nn.Module):
    def __init__(self, more=(64, 32)):
        super().__init__()
        layers, width = [], 8
        for one in (16, 32, 64):
            layers += [nn.Linear(width, one), nn.ReLU()]
            width = one
        for one in more:
            layers.append(nn.Linear(width, one))
            width = one
        self.net = nn.Sequential(*layers)
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        return self.head(self.net(x))


class Pyramid(nn.Module):
    def __init__(self):
        super().__init__()
        self.sides = nn.ModuleList()
        for width in (16, 32):
            self.sides.append(nn.Conv2d(width, 8, 1))
        self.down = nn.ModuleList()
        width = 3
        for one in (16, 32):
            self.down.append(nn.Conv2d(width, one, 3, padding=1))
            width = one

    def forward(self, x):
        found = []
        for down, side in zip(self.down, self.sides):
            x = down(x)
            found.append(side(x))
        return found


class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        layers = [nn.Conv2d(3, 16, 1)]
        for turn in range(depth):
            layers.append(nn.Conv2d(16 * 2**turn, 16 * 2 ** (turn + 1), 3))
        self.net = nn.Sequential(*layers)
        self.head = nn.Conv2d(16 * 2**depth, 1, 1)

    def forward(self, x):
        return self.head(self.net(x))


def run():
    return Chain()(torch.randn(2, 8)), Deep(3)(torch.randn(1, 3, 32, 32))
