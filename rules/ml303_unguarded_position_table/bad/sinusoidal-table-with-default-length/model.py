import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, width, max_len=5000):
        super().__init__()
        table = torch.zeros(max_len, width)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        step = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
        table[:, 0::2] = torch.sin(position * step)
        table[:, 1::2] = torch.cos(position * step)
        self.register_buffer("table", table.unsqueeze(0))  # expect: ML303

    def forward(self, x):
        return x + self.table[:, : x.size(1)]


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.positions = PositionalEncoding(width)
        self.layer = nn.TransformerEncoderLayer(width, 8)

    def forward(self, x):
        return self.layer(self.positions(x))
