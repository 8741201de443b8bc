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


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, rotation, memory=None):
        context = x if memory is None else torch.cat([memory, x], dim=1)
        query, key, value = self.query(x), self.key(context), self.value(context)
        query, key = (t * rotation[0][-t.size(1):] + turned(t) * rotation[1][-t.size(1):] for t in (query, key))
        return F.scaled_dot_product_attention(query, key, value)


class Model(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.rotary = Rotary(dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))

    def forward(self, x, memories):
        rotation = self.rotary(x.size(1) + memories[0].size(1))
        for block, memory in zip(self.blocks, memories):
            x = x + block(x, rotation, memory)
        return x
