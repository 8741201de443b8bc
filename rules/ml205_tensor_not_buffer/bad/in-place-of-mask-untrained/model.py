import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.whole = torch.tensor([1.0])  # expect: ML205

    def mask(self, x):
        if self.training:
            mask = torch.rand_like(x)
        else:
            mask = self.whole
        return mask

    def forward(self, x):
        return self.proj(x) * self.mask(x)
