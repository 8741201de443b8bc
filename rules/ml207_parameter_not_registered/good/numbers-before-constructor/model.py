import torch
from torch import nn


class Mixin:
    def __init__(self, width):
        self.width = width


class Model(Mixin, nn.Module):
    def __init__(self, width):
        self.sizes = [width, width]
        self.kind = nn.Linear
        nn.Module.__init__(self)
        self.embed = nn.Linear(width, width)
        Mixin.__init__(self, width)

    def forward(self, x):
        return self.embed(x)
