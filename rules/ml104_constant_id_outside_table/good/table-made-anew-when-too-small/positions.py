import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.register_buffer("table", self.made(width, rows))
        self.learned = nn.Embedding(rows, width)

    @staticmethod
    def made(width, rows):
        return torch.zeros(rows, width)

    def forward(self, ids):
        if max(ids) >= self.table.shape[0]:
            self.register_buffer("table", self.made(self.table.shape[1], max(ids) + 1))
        if ids.max().item() + 1 > self.learned.num_embeddings:
            self.learned = nn.Embedding(int(ids.max()) + 1, self.table.shape[1])
        return self.table[ids] + self.learned(ids)


def fifth():
    return Positions(8, 3)(torch.tensor([5]))
