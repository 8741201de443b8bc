import torch
from torch import nn


class Table(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Parameter(torch.randn(rows, width))
        self.table[0] = 0  # expect: ML709

    def forward(self, x):
        return x @ self.table


class Normed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))

    def forward(self, x):
        self.weight.clamp_(-1, 1)  # expect: ML709
        return x * self.weight
