import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len):
        angles = torch.outer(torch.arange(seq_len, device=x.device), self.inv_freq)
        return angles.cos(), angles.sin()


class Attention(nn.Module):
    def __init__(self, dim, layer):
        super().__init__()
        self.layer = layer
        self.rotary = Rotary(dim)

    def forward(self, q, k, v, position_ids, cache):
        cos, sin = self.rotary(v, q.size(-2))  # expect: ML302
        q = q * cos[position_ids] + q.flip(-1) * sin[position_ids]
        k, v = cache.update(k, v, self.layer)
        return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v
