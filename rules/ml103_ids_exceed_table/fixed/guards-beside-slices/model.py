import torch
from torch import nn


class Codec(nn.Module):
    def __init__(self, rows: int, width: int):
        super().__init__()
        self.rows = rows
        self.books = nn.Embedding(rows, width)
        self.bias = nn.Parameter(torch.zeros(rows, width))

    def forward(self, codes, length):
        if torch.max(codes) >= self.rows:  # expect: ML103
            raise ValueError("no such code")
        return self.books(codes[:, : length - 1])

    def one(self, n, width):
        assert n < self.rows  # expect: ML103
        return self.bias[:n], self.bias[n, :width]

    def of(self, batch):
        assert batch.codes.max() < self.rows  # expect: ML103
        return self.books(batch.codes)

    def told(self, n):
        if n >= self.rows:  # expect: ML103
            raise ValueError("no such code")
        return self._row(n)

    def _row(self, n):
        return self.bias[None, n]
