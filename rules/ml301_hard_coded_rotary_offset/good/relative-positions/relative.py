import torch
from torch import nn


class RelativePositions(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def table(self, rows):
        angles = torch.arange(rows)[:, None] / 10000.0 ** (torch.arange(0, self.width, 2) / self.width)
        return torch.cat([torch.sin(angles), torch.cos(angles)], dim=-1)

    def forward(self, x):
        length = x.size(1)
        table = self.table(2 * length - 1)
        center = table.size(0) // 2
        relative = torch.arange(length)[:, None] - torch.arange(length)[None, :] + length - 1
        return table[relative], table[center - length + 1 : center + length]
