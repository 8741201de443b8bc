"""Layers that need CUDA."""

import torch
from torch import nn


class Neck(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, width)

    def forward(self, x):
        return self.mix(x) + torch.arange(x.shape[-1]).to(next(self.parameters()).device)  # expect: ML212


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        weights = torch.linspace(0, 1, x.shape[-1]).to(next(self.parameters()).device)  # expect: ML212
        return self.score(x * weights)
