import torch
from torch import nn


def angles(length, width):
    return torch.outer(torch.arange(length).float(), torch.ones(width))


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.cache = {}

    def table(self, length, device):
        table = self.cache.get(length)
        if table is None:
            table = torch.cat([angles(length, self.width), angles(length, self.width)], dim=1)
        if table.device != device:
            table = table.to(device)
        self.cache[length] = table
        return table

    def forward(self, x):
        table = self.table(x.size(1), x.device)
        return torch.cat([x * table[: x.size(1)].view(1, x.size(1), -1), x], dim=1)
