import torch
from torch import nn


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x):
        x = self.proj(x)
        return x.view(-1, 2, x.shape[1] / 2)  # expect: ML502


def dice():
    return torch.randint(1, 7, 3)  # expect: ML502


def turned():
    return torch.permute(torch.rand(2, 3, 4), 0, 2, 1)  # expect: ML502


def typed():
    return torch.zeros(2, dtype="float32")  # expect: ML502
