import torch
from torch import nn


class Squash(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return torch.tanh(self.proj(x))


class Bump(nn.Module):
    def forward(self, x):
        x += 1
        return x
