import torch
from torch import nn


class Squeeze(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 4), nn.ReLU(), nn.Linear(4, width), nn.Sigmoid())

    def forward(self, x):
        return x * self.net(x)
