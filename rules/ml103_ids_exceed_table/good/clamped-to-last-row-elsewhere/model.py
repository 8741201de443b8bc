import torch
from torch import nn


def limited(ids, last):
    return ids.clamp(min=0, max=last)


class Codec(nn.Module):
    def __init__(self, rows=4096, width=64):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, rows)
        self.books = nn.Embedding(rows, width)
        self.more = nn.Embedding(rows + 1, width)

    def keep(self, codes):
        return torch.clamp(codes, 0, self.rows - 1).long()

    def keep_most(self, codes):
        return codes.clamp(max=self.rows)

    def forward(self, codes, others):
        kept = self.books(self.keep(codes)) + self.books(limited(others, self.rows - 1))
        kept = kept + self.more(self.keep_most(codes)) + self.books(self.keep(self.keep_most(codes)))
        return kept + self.books(self.keep_most(self.keep(others))) + self.books(self.keep_most(codes) - 1)

    def step(self, x):
        return self.books(self.keep_most(self.head(x).argmax(-1)))
