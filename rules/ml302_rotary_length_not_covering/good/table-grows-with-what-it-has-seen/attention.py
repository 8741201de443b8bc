import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.grow(2048)

    def grow(self, length):
        self.rows = length
        angles = torch.arange(length)[:, None] / 10000.0 ** (torch.arange(0, self.dim, 2) / self.dim)
        self.cosines, self.sines = torch.cos(angles), torch.sin(angles)

    def forward(self, x, seq_len):
        if seq_len > self.rows:
            self.grow(seq_len)
        return self.cosines, self.sines


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, k, position_ids, past=None):
        cos, sin = self.rotary(q, k.shape[-2])
        k = k * cos[position_ids] + k.flip(-1) * sin[position_ids]
        if past is not None:
            k = torch.cat([past, k], dim=-2)
        return q @ k.transpose(-1, -2)
