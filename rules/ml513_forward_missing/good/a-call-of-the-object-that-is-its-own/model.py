import torch
from torch import nn


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(4, 4)

    def __call__(self, ids):
        return self.rows(ids)


def run():
    return Table()(torch.zeros(2, dtype=torch.long))
