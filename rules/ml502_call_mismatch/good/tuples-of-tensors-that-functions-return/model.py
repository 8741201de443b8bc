import torch
import torch.nn.functional as F
from torch import nn


def positions(x, y, rows):
    mask = F.relu(x) > 0
    found = torch.stack(torch.where(mask), -1)
    parts = torch.cat(F.relu(x).split(2), dim=1)
    rows_of = torch.stack(rows)
    joined = torch.cat(y)
    at_least = torch.cat(torch.atleast_1d(F.relu(x), F.relu(y)))
    typed = F.relu(x).long().type(F.relu(x).type())
    return found, parts, rows_of, joined, at_least, typed


class Propagate(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.layers = layers
        self.table = nn.Embedding(4, 4)

    def first(self):
        return torch.cat([self.table.weight, self.table.weight])

    def forward(self):
        x = self.first()
        kept = [x]
        for _ in range(self.layers):
            x = torch.relu(x)
            kept.append(x)
        return torch.stack(kept[: self.layers + 1], dim=1)


def along(x, axis):
    x = F.relu(x)
    return x.sum(axis), x.transpose(0, axis), torch.cat([x, x], torch.tensor(0))
