import torch
from torch import nn


class Stem(nn.Module):
    def __init__(self, is_flat, has_table=True):
        super().__init__()
        self.is_flat = is_flat
        self.embed = nn.Linear(48, 64) if is_flat else nn.Conv2d(3, 64, 4, stride=4)
        if has_table:
            self.table = nn.Parameter(torch.zeros(1, 64, 8, 8))
        else:
            self.table = None
        self.scale = nn.Parameter(torch.ones(64)) if is_flat else nn.Parameter(torch.ones(64, 1, 1))

    def forward(self, x, tokens=None):
        x = self.embed(x)
        if self.is_flat:
            return x * self.scale
        x = x * self.scale
        if self.table is not None:
            x = x + self.table
        b, c, h, w = x.shape
        return x.reshape(b, c, h * w)


class Positions(nn.Module):
    def __init__(self, is_learnt):
        super().__init__()
        self.is_learnt = is_learnt
        self.table = nn.Parameter(torch.randn(197, 64)) if is_learnt else torch.zeros(196, 64)

    def forward(self, batch):
        patches = torch.zeros(batch, 196, 64)
        if self.is_learnt:
            token = torch.zeros(batch, 1, 64)
            patches = torch.cat([token, patches], dim=1)
        return patches + self.table
