import numpy as np
import torch
from torch import nn


class Solver(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.grid = torch.linspace(0, 1, 4, dtype=torch.float64)
        self.wide = nn.Linear(4, 4, dtype=torch.float64)

    def forward(self, x):
        return self.fc(x.double()) + self.fc(self.grid) + self.wide(self.grid)


def solve():
    solver = Solver().double()
    return solver(torch.from_numpy(np.zeros((2, 4))))


def convert(model: nn.Module) -> nn.Module:
    return model.to(torch.float64)


def fit():
    layer = convert(nn.Linear(4, 4))
    return layer(torch.from_numpy(np.zeros((2, 4))))
