import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        gate = torch.sigmoid(self.proj(x))
        gate = gate * (0.5 + x.abs())  # expect: ML709
        return gate


class Twice(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.act = nn.Tanh()
        self.clip = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.clip(self.act(self.proj(x)))  # expect: ML709


class InARow(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, width),
            nn.Sigmoid(),
            nn.LeakyReLU(0.1, inplace=True),  # expect: ML709
        )

    def forward(self, x):
        return self.layers(x)
