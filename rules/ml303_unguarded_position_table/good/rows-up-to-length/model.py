import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, longest=5000):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(longest, 1, width))

    def forward(self, x):
        return x + self.table[:x.shape[0]]


class Lengths(nn.Module):
    def __init__(self, width, longest=64):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(longest + 1, width))
        self.layer = nn.Linear(width, width)

    def forward(self, memory, query):
        return self.layer(query) + self.table[memory.shape[1]]
