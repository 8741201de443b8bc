import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width, mean=None, std=None):
        super().__init__()
        self.mean = mean
        self.std = std
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.out(x)
        if self.mean is not None and self.std is not None:
            x = x * self.std + self.mean
        return x


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(width, width)
        self.scaled = Scaled(width)

    def forward(self, x):
        return self.scaled(torch.relu(self.body(x)))
