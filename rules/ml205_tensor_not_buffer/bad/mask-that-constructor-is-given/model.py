import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, width, mask: torch.Tensor | None = None):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.mask = mask  # expect: ML205

    def forward(self, x):
        x = self.proj(x)
        return x if self.mask is None else x * self.mask
