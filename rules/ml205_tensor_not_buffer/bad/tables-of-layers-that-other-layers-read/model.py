import torch
from torch import nn


class Grid(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.points = torch.linspace(0, 1, width)  # expect: ML205
        self._levels = torch.linspace(0, 1, width)  # expect: ML205
        self._steps = torch.linspace(1, 2, width)  # expect: ML205
        self.lin = nn.Linear(width, width)

    @property
    def levels(self):
        return self._levels

    def steps(self):
        return self._steps * 2

    def forward(self, x):
        return self.lin(x)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.grid = Grid(width)

    def forward(self, x):
        x = self.grid(x).softmax(-1) * self.grid.points
        return x * self.grid.levels + self.grid.steps()


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = torch.zeros(length, width)  # expect: ML205

    def forward(self, length: int):
        return self.table[:length]


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.positions = Positions(128, width)
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x + self.positions(x.size(1)))


class Bank(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.keys = torch.eye(width)  # expect: ML205
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


class Reader(nn.Module):
    def __init__(self, bank: Bank, width):
        super().__init__()
        self.bank = bank
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x) @ self.bank.keys


class Level(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.anchors = torch.arange(width).float()  # expect: ML205

    def forward(self, x):
        return self.lin(x)


class Levels(nn.Module):
    def __init__(self, width, number):
        super().__init__()
        self.levels = nn.ModuleList([Level(width) for _ in range(number)])

    def forward(self, xs):
        return [level(x) + level.anchors for x, level in zip(xs, self.levels)]
