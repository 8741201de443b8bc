import torch
from torch import nn


class Evaluated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        scores = torch.sigmoid(self.proj(x))
        if not self.training:
            scores *= 2
        seen = torch.softmax(self.proj(x), dim=-1)
        seen += 1
        return scores, seen.detach(), seen.argmax(dim=-1)


class Frugal(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def _in_place(self, x):
        gate = torch.sigmoid(self.proj(x))
        gate *= x
        return gate

    def forward(self, x, saves_memory=False):
        if saves_memory:
            return self._in_place(x)
        return torch.sigmoid(self.proj(x)) * x
