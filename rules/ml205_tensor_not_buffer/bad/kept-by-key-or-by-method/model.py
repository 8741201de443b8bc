import torch
from torch import nn


class Grid(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.grids = {}

    def forward(self, x):
        size = x.shape[1]
        if size not in self.grids:
            self.grids[size] = torch.linspace(0, 1, size, device=x.device)[:, None]  # expect: ML205
        return self.proj(x) * self.grids[size]


class Biased(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def _bias(self, length, device):
        if hasattr(self, "bias") and self.bias.shape[0] >= length:
            return self.bias[:length]
        setattr(self, "bias", torch.arange(length, device=device) * -0.5)  # expect: ML205
        return self.bias

    def forward(self, x):
        return self.proj(x).sum(-1) + self._bias(x.shape[1], x.device)
