import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.register_buffer("table", self.made(width, rows))  # expect: ML104

    @staticmethod
    def made(width, rows):
        return torch.zeros(rows, width)

    def forward(self, ids):
        if len(ids) > self.table.shape[0]:
            self.register_buffer("table", self.made(self.table.shape[1], len(ids)))
        return self.table[ids]


def fifth():
    return Positions(8, 3)(torch.tensor([5]))
