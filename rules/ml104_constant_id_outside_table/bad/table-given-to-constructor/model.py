import torch
from torch import nn


class Pointers(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
        self.scaled = torch.ones(5, 8) * 2  # expect: ML104
        self.table = nn.Embedding(5, 8)  # expect: ML104

    def forward(self, ids):
        return self.rows[ids] + self.table(ids) + self.scaled[ids, :]


def start():
    return Pointers(torch.zeros(5, 8))(torch.full((3,), 7))  # expect: ML104
