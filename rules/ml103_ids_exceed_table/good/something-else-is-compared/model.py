import torch
from torch import nn


class Words(nn.Module):
    def __init__(self, rows: int, width: int):
        super().__init__()
        self.rows = rows
        self.table = nn.Embedding(rows, width)

    def forward(self, batch):
        assert batch.lengths.max() <= self.rows
        return self.table(batch.ids)

    def numbered(self, names, ids):
        assert ids.count(0) <= self.rows
        assert names.max() <= self.rows
        return self.table(ids[names])

    def best(self, scores, ids):
        assert scores.max() <= self.rows
        ids[scores.numel()] = 0
        return self.table(scores.max(1)[1]) + self.table(torch.where(scores <= self.rows, ids, ids - 1))
