import torch
from torch import nn


class Order(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.last = nn.Linear(width, width)

    def forward(self, x):
        hidden = self.proj(x)
        hidden += 1
        hidden.clamp_(min=0)
        out = self.last(hidden.mul_(2))
        value = self.proj(x)
        value -= 3
        return out + value**2
