import torch
import torch.nn.functional as F
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", 10000.0 ** (-torch.arange(0, dim, 2) / dim))

    def forward(self, length):
        angles = torch.outer(torch.arange(length, device=self.rates.device), self.rates)
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()


def turned(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class Late(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, prefix):
        length = x.shape[1]
        cos, sin = self.rotary(length)
        joined = torch.cat((prefix, x), dim=1)
        x = joined.narrow(1, prefix.shape[1], length)
        return self.out(x * cos + turned(x) * sin)
