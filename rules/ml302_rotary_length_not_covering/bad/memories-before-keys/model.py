import torch
import torch.nn.functional as F
from torch import nn


class Angles(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("rates", 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim)))

    def forward(self, x):
        steps = torch.arange(x.shape[1], device=x.device).type_as(self.rates)
        angles = torch.einsum("i,j->ij", steps, self.rates)
        return torch.cat((angles, angles), dim=-1)[None]


def turned(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.to_query = nn.Linear(dim, dim)
        self.to_key = nn.Linear(dim, dim)
        self.to_value = nn.Linear(dim, dim)

    def forward(self, x, angles, memory=None):
        source = x
        if memory is not None:
            source = torch.cat((memory, x), dim=1)
        query, key, value = self.to_query(x), self.to_key(source), self.to_value(source)
        query = query * angles.cos() + turned(query) * angles.sin()
        key = key * angles.cos() + turned(key) * angles.sin()
        return F.scaled_dot_product_attention(query, key, value)


class Decoder(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.angles = Angles(dim)
        self.layers = nn.ModuleList([Attention(dim) for _ in range(depth)])

    def forward(self, x, memories=None):
        angles = self.angles(x)  # expect: ML302
        memories = memories if memories is not None else [None] * len(self.layers)
        for layer, memory in zip(self.layers, memories):
            x = x + layer(x, angles, memory=memory)
        return x
