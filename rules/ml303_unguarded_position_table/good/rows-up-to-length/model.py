import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, longest=5000):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(longest, 1, width))

    def forward(self, x):
        if x.shape[0] > self.table.shape[0]:
            raise ValueError("the input is too long")
        return x + self.table[: x.shape[0]]


class Lengths(nn.Module):
    def __init__(self, width, longest=64):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(longest + 1, width))
        self.layer = nn.Linear(width, width)

    def forward(self, memory, query):
        if memory.shape[1] > 64:
            raise ValueError("the memory is too long")
        return self.layer(query) + self.table[memory.shape[1]]
