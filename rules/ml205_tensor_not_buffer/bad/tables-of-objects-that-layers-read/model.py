import math

import torch
from torch import nn


class Angles:
    def __init__(self, width, length):
        rates = 1.0 / 10000 ** (torch.arange(width) / width)
        self.cos = torch.outer(torch.arange(length), rates).cos()  # expect: ML205


class Rotated(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.angles = Angles(width, length)

    def forward(self, x):
        return self.lin(x) * self.angles.cos


class Positions:
    def __init__(self, width, length=64):
        self.table = torch.zeros(length, width)  # expect: ML205
        rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        self.table[:, 0::2] = torch.sin(torch.arange(length)[:, None] * rates)

    def first(self, length):
        return self.table[:length]


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.positions = Positions(width)

    def forward(self, x):
        return self.lin(x) + self.positions.first(x.shape[1])


class Statistics:
    def __init__(self, width):
        self.mean = torch.linspace(0, 1, width)  # expect: ML205


def centre(x, statistics):
    return x - statistics.mean


class Normalised(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.statistics = Statistics(width)

    def forward(self, x):
        return centre(self.lin(x), self.statistics)


class Slopes:
    def __init__(self, heads):
        self.slopes = torch.tensor([2.0**-n for n in range(heads)])  # expect: ML205


class Block(nn.Module):
    def __init__(self, width, slopes):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.slopes = slopes

    def forward(self, x):
        return self.lin(x) * self.slopes.slopes


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        slopes = Slopes(width)
        self.blocks = nn.ModuleList([Block(width, slopes) for _ in range(depth)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Windows:
    def __init__(self, width):
        self.window = torch.linspace(0, 1, width)  # expect: ML205


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x, windows):
        return self.lin(x) * windows.window


class Windowed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.windows = Windows(width)
        self.head = Head(width)

    def forward(self, x):
        return self.head(x, self.windows)
