import torch
from torch import nn

from limiting import limited


class Codec(nn.Module):
    def __init__(self, rows=4096, width=64):
        super().__init__()
        self.rows = rows
        self.books = nn.Embedding(rows, width)

    def keep(self, codes):
        return torch.clamp(codes, 0, self.rows).long()  # expect: ML103

    def kept(self, codes):
        return self.keep(codes)

    def forward(self, codes, others):
        return self.books(self.kept(codes)) + self.books(limited(others, self.rows))  # expect: ML103
