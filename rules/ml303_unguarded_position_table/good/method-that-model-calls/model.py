import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        self.dim = dim
        self.build(longest)

    def build(self, longest):
        self.longest = longest
        self.register_buffer("cosines", torch.arange(longest)[:, None].cos())

    def forward(self, x, length=None):
        return self.cosines[:length]


class Growing(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.build(512)

    def build(self, longest):
        self.longest = longest
        self.table = torch.arange(longest)[:, None].cos()

    def forward(self, x):
        if x.shape[1] > self.longest:
            self.build(x.shape[1])
        return self.table[: x.shape[1]]


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)
        self.growing = Growing(dim)

    def forward(self, x):
        self.rotary.build(x.shape[1])
        return self.growing(x) * self.rotary(x, x.shape[1])
