import torch
from torch import nn


class Codec(nn.Module):
    def __init__(self, rows=4096, width=64):
        super().__init__()
        self.rows = rows
        self.books = nn.Embedding(rows, width)
        self.places = nn.Embedding(2 * rows, width)

    def decode(self, codes):
        if torch.any(codes >= self.rows):  # expect: ML103
            raise ValueError("no such code")
        return self.books(codes)

    def checked(self, codes):
        assert codes.max() < self.rows  # expect: ML103
        return self.books(codes)

    def forward(self, codes, others):
        first = self.books(codes.clamp(0, self.rows).long())  # expect: ML103
        places = self.places((codes - others + self.rows).clamp(0, 2 * self.rows))  # expect: ML103
        return places + first + self.books(torch.clamp(others, max=self.rows))  # expect: ML103
