import torch
from torch import nn


class Ways(nn.Module):
    def __init__(self, width, act):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.act = {"relu": nn.ReLU(), "gelu": nn.GELU()}[act]
        self.is_squashed = act == "relu"

    def forward(self, x, flag=False):
        hidden = self.proj(x)
        if flag:
            hidden = torch.sigmoid(hidden)
        hidden += 1
        other = self.act(self.proj(x))
        other += 1
        if flag:
            product = hidden * other
        else:
            product = hidden + other
        if not flag:
            hidden -= 1
        return product, hidden


class Loops(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        x += 1
        return x
