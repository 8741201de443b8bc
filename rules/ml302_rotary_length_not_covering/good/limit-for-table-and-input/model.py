import torch
import torch.nn.functional as F
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", 10000.0 ** (-torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len):
        angles = torch.outer(torch.arange(seq_len, device=x.device), self.rates)
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()


def turned(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class Attention(nn.Module):
    def __init__(self, dim, window):
        super().__init__()
        self.window = window
        self.rotary = Rotary(dim)
        self.projection = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        length = min(x.size(1), self.window)
        x = x[:, :length]
        query, key, value = self.projection(x).chunk(3, dim=-1)
        cos, sin = self.rotary(x, length)
        query, key = query * cos + turned(query) * sin, key * cos + turned(key) * sin
        return F.scaled_dot_product_attention(query, key, value)


class Guarded(nn.Module):
    def __init__(self, dim, window):
        super().__init__()
        self.window = window
        self.rotary = Rotary(dim)
        self.projection = nn.Linear(dim, 3 * dim)

    def forward(self, x):
        length = min(x.size(1), self.window)
        if x.size(1) > self.window:
            raise ValueError("the input is too long")
        query, key, value = self.projection(x).chunk(3, dim=-1)
        cos, sin = self.rotary(x, length)
        query, key = query * cos + turned(query) * sin, key * cos + turned(key) * sin
        return F.scaled_dot_product_attention(query, key, value)
