import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.lin = nn.Linear(width, width)
        self._build(2)

    def _build(self, length):
        self.length = length
        steps = torch.arange(length).float()  # expect: ML211
        rates = 1e-4 ** (torch.arange(0, self.width).float() / self.width)
        self.register_buffer("cos", torch.outer(steps, rates).cos(), persistent=False)

    def forward(self, x):
        """x: (batch, time, width)"""
        if x.shape[1] > self.length:
            self._build(x.shape[1])
        return self.lin(x) * self.cos[: x.shape[1]]
