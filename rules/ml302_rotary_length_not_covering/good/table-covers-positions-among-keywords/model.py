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


class Hooks(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def attention(self, query, key, value, attend, **options):
        position_ids = options["position_ids"]
        cos, sin = self.rotary(value, seq_len=int(position_ids.max()) + 1)
        cos, sin = F.embedding(position_ids, cos), F.embedding(position_ids, sin)
        query, key = query * cos + turned(query) * sin, key * cos + turned(key) * sin
        return attend(query, key, value, **options)
