import torch
from torch import nn


class Join(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(8, 4)
        self.right = nn.Linear(8, 4)

    def forward(self, x):
        return torch.cat(self.left(x), self.right(x))  # expect: ML502


def powers():
    base = torch.ones(4)
    return torch.stack(base**n for n in range(3))  # expect: ML502
