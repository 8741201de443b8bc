import torch
from torch import nn


class Levels(nn.Module):
    def __init__(self, width, levels=3):
        super().__init__()
        self.tables = [torch.ones(width) for _ in range(levels)]  # expect: ML205

    def forward(self, x):
        for table in self.tables:
            x = x * table
        return x
