import math

import torch
from torch import nn


def waves(length, width):
    at = torch.arange(length)[:, None]
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2] = torch.sin(at * rates)
    table[:, 1::2] = torch.cos(at * rates)
    return table


class Waves(nn.Module):
    def __init__(self, width, max_len=500):
        super().__init__()
        self.register_buffer("table", torch.zeros(1, max_len, width))  # expect: ML303

    def forward(self, x):
        return x + self.table[:, : x.size(1)]


class Fixed(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.register_buffer("table", waves(300, width))  # expect: ML303

    def forward(self, ids):
        return self.embed(ids) + self.table[: ids.shape[1]]


def table_for(width):
    return nn.Embedding(400, width)  # expect: ML303


class Learned(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.table = table_for(width)

    def forward(self, ids):
        return self.embed(ids) + self.table(torch.arange(ids.shape[1], device=ids.device))
