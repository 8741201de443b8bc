import torch
from torch import nn


class Squashing:
    def forward(self, x):
        hidden = torch.tanh(self.proj(x))
        hidden.neg_()  # expect: ML709
        return hidden


class Network(Squashing, nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)


class Steps(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def _hidden(self, x):
        hidden = torch.rsqrt(1 + self.proj(x) ** 2)
        hidden += 1  # expect: ML709
        return x, hidden

    def forward(self, x):
        x, hidden = self._hidden(x)
        return x * hidden
