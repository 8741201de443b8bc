import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def __mul__(self, other):
        return self.by * other

    def forward(self, x):
        return x * self.by


def scaled(x: torch.Tensor):
    return Scaled(x) * torch.ones(3)
