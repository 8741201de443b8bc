import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("rows", None)
        self.rows = torch.zeros(width)
        self.register_buffer("rows", torch.ones(width))
        self.mask = torch.ones(width)
        del self.mask
        self.register_buffer("mask", torch.zeros(width))
        self.weight = nn.Parameter(torch.zeros(width))
        self.register_parameter("weight", nn.Parameter(torch.ones(width)))
        self.layer = nn.Linear(width, width)
        self.add_module("layer", nn.Linear(width, width))

    def forward(self, x):
        return self.layer(x) * self.weight + self.rows + self.mask
