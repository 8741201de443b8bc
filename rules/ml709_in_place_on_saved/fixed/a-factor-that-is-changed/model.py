import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        value = self.value(x)
        mixed = value * torch.sigmoid(self.gate(x))
        value = value - 1  # expect: ML709
        return mixed + value


class Powers(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)

    def forward(self, x):
        value = self.value(x)
        square = value**2
        value = value / 2  # expect: ML709
        return square - value
