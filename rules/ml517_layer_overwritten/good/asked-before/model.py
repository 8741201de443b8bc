import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = torch.zeros(width)
        if not hasattr(self, "table"):
            self.register_buffer("table", torch.zeros(width))
        try:
            self.register_buffer("table", torch.zeros(width))
        except KeyError:
            pass

    def forward(self, x):
        return x + self.table
