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


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.projection = nn.Linear(dim, 3 * dim)
        self.rotary = Rotary(dim // heads)

    def forward(self, x, past=None):
        batch, n, dim = x.shape
        query, key, value = (
            part.view(batch, n, self.heads, -1).transpose(1, 2) for part in self.projection(x).chunk(3, dim=-1)
        )
        if past is not None:
            key = torch.cat((past[0], key), dim=2)
            value = torch.cat((past[1], value), dim=2)
        cos, sin = self.rotary(n)  # expect: ML302
        query = query * cos + turned(query) * sin
        key = key * cos + turned(key) * sin
        return F.scaled_dot_product_attention(query, key, value)
