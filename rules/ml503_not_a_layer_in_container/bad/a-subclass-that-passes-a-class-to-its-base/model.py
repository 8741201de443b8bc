from collections import OrderedDict

from torch import nn


class Block(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, width), nn.ReLU)  # expect: ML503


class Named(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(OrderedDict([("proj", nn.Linear(width, width)), ("act", nn.SiLU)]))  # expect: ML503

    def forward(self, x):
        return self.layers(x)
