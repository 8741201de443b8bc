import torch
from torch import nn


class Sines(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.table = None

    def grow(self, x):
        if self.table is not None and self.table.size(0) >= x.size(1):
            return
        positions = torch.arange(x.size(1)).unsqueeze(1)
        table = torch.zeros(x.size(1), self.width)
        table[:, 0::2] = torch.sin(positions * torch.ones(self.width // 2))
        self.table = table.to(x.device)

    def forward(self, x):
        self.grow(x)
        return x + self.table
