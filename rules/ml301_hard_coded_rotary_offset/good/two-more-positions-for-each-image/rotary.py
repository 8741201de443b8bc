import torch
from torch import nn


class GridRotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("inv_freq", 10000.0 ** -(torch.arange(0, dim, 2) / dim))

    def forward(self, x, seq_len):
        angles = torch.outer(torch.arange(seq_len, device=x.device), self.inv_freq)
        return angles.cos(), angles.sin()


class Vision(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = GridRotary(dim)

    def forward(self, x, rows):
        cos, sin = self.rotary(x, rows + 2)
        positions = torch.arange(rows, device=x.device) + 2
        return x * cos[positions] + x.flip(-1) * sin[positions]
