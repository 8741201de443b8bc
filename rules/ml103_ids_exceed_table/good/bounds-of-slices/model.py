import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, size: int, width: int):
        super().__init__()
        self.size = size
        self.table = nn.Embedding(size, width)
        self.bias = nn.Parameter(torch.zeros(size, width))
        self.register_buffer("mask", torch.ones(size, size).tril())

    @property
    def rows(self):
        return self.table.weight

    def crop(self, n):
        assert n <= self.size
        self.table.weight = nn.Parameter(self.table.weight[:n])

    def forward(self, x):
        count, length = x.shape
        if length > self.size:
            raise ValueError("too long")
        seen = self.mask[:length, :length]
        places = self.table(torch.arange(self.size)[:length]) + self.rows[:length] + self._first(length)
        return x.masked_fill(seen == 0, 0), places + self.bias.narrow(0, 0, length) + self.bias[-length:, :]

    def _first(self, n):
        return self.bias[0:n, :]

    def each(self, n):
        assert n <= self.size
        first = self.bias
        return [first[i] for i in range(n)], first[-n], self.table(torch.zeros(n).long().view(n, -1))

    def columns(self, ids, column):
        assert column <= self.size
        return self.mask[ids, :column], self.bias[ids, column]
