import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x, scale):
        return x + self.lin(x) * scale


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)
        self.scale = nn.Parameter(torch.ones(width, requires_grad=True))  # expect: ML207

    def forward(self, x):
        return checkpoint(self.block, x, self.scale)


class Shifted(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)
        self.shift = nn.Parameter(torch.zeros(width, requires_grad=True))  # expect: ML207

    def forward(self, x):
        x = checkpoint(self.block, x, scale=2.0)
        return x + self.shift


def scaled(layer, x, scale):
    return layer(x) * scale


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width, requires_grad=True))  # expect: ML207

    def forward(self, x):
        return checkpoint(scaled, self.lin, x, self.scale)


class Inner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.scale = nn.Parameter(torch.ones(width, requires_grad=True))  # expect: ML207

    def inner(self, x, scale):
        return self.lin(x) * scale

    def forward(self, x):
        return checkpoint(self.inner, x, self.scale)
