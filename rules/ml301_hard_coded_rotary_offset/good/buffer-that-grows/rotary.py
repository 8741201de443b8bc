import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.grow(2048)

    def grow(self, length):
        self.cached = length
        angles = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, self.dim, 2) / self.dim)
        self.cosines, self.sines = torch.cos(angles), torch.sin(angles)

    def forward(self, q, k, position_ids):
        needed = k.size(-2)
        if needed > self.cached:
            self.grow(needed + 512)
        return q * self.cosines[position_ids] + k * self.sines[position_ids]
