import torch
from torch import nn


class Indexer(nn.Module):
    """Which blocks a token attends to: no gradient goes through ids."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)

    def forward(self, tokens, own):
        scores = self.query(tokens).amax(dim=-1)
        scores.scatter_(-1, own, float("inf"))
        best, ids = scores.topk(2, dim=-1)
        return ids.masked_fill(best == float("-inf"), -1)
