import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.longest = 0

    def build(self, length):
        angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, self.width, 2) / self.width)
        self.cosines, self.longest = torch.cos(angles), length

    def grow(self, x):
        length = x.shape[1]
        if self.longest >= length:
            return
        self.build(length + 64)

    def forward(self, x, is_traced=False):
        length = x.shape[1]
        if not (is_traced and torch.is_tensor(length)) and length > self.longest:
            self.build(length + 64)
        return x * self.cosines[:length]
