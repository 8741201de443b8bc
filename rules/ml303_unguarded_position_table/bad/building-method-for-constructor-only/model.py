import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, longest=2048):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))
        self.build(longest)  # expect: ML303

    def build(self, longest):
        self.longest = longest
        angles = torch.outer(torch.arange(longest), self.inv_freq)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())

    def forward(self, x, length=None):
        return self.cosines[:length].to(x.dtype), self.sines[:length].to(x.dtype)
