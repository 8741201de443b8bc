import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.mask = None

    def forward(self, x):
        length = x.size(1)
        if self.mask is None or self.mask.size(0) != length:
            self.mask = torch.triu(torch.ones(length, length, device=x.device), 1)  # expect: ML205
        return self.query(x) @ x.transpose(1, 2) - 1e4 * self.mask


class Rotary(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("rates", 1e-4 ** (torch.arange(0, width, 2) / width))
        self.length = 0
        self.angles = None

    def forward(self, x):
        if x.shape[1] > self.length:
            self._extend(x)
        return x * self.angles[: x.shape[1]].cos()

    def _extend(self, x):
        self.length = x.shape[1]
        angles = torch.outer(torch.arange(self.length, device=x.device), self.rates)
        self.angles = torch.cat((angles, angles), -1)  # expect: ML205
