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


class Mixer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(2 * dim)
        self.out = nn.Linear(2 * dim, dim)

    def forward(self, x, condition):
        cos, sin = self.rotary(x.shape[1])
        joined = torch.cat((condition, x), dim=-1)
        return self.out(joined * cos + turned(joined) * sin)
