import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, width, max_len=5000):
        super().__init__()
        self.width = width
        self.table = torch.zeros(1, max_len, width)

    def grow(self, x):
        self.table = torch.zeros(1, 2 * x.size(1), self.width)

    def forward(self, x):
        try:
            return x + self.table[:, : x.size(1)]
        except RuntimeError:
            self.grow(x)
        return x + self.table[:, : x.size(1)]
