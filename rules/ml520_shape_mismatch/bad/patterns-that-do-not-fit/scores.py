import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_queries = nn.Linear(64, 64)

    def forward(self, x):
        batch, length, _ = x.shape
        queries = self.to_queries(x).view(batch, length, 4, 16)
        return torch.einsum("bqd,bkd->bqk", queries, queries)  # expect: ML520


def distances():
    points = torch.rand(10, 3)
    matrix = torch.rand(4, 4)
    return torch.einsum("nd,de->ne", points, matrix)  # expect: ML520
