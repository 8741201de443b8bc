import torch
from torch import nn


class Tables:
    def __init__(self, like):
        self.cos = torch.arange(like.size(-1), device=like.device).cos()

    def turn(self, x):
        return x * self.cos


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return Tables(x).turn(self.lin(x))
