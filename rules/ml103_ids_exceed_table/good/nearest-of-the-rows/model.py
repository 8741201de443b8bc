import torch
from torch import nn


class Quantiser(nn.Module):
    def __init__(self, rows=32, width=64):
        super().__init__()
        self.width = width
        self.table = nn.Embedding(rows, width)

    def forward(self, x):
        flat = x.float().view(-1, self.width)
        rows = self.table.weight.t()
        distances = (flat**2).sum(dim=1, keepdim=True) + (rows**2).sum(dim=0, keepdim=True) - 2 * torch.mm(flat, rows)
        return self.table(torch.max(-distances, dim=1)[1])
