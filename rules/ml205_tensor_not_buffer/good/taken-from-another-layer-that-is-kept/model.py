import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("scale", torch.ones(width))
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.scale * self.weight


class Unscale(nn.Module):
    def __init__(self, other: Scale):
        super().__init__()
        self.other = other
        self.weight = other.weight

    def forward(self, x):
        return x / self.other.scale / self.weight


class Own(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = Scale(width)
        self.register_buffer("scale", self.first.scale)
        self.register_buffer("shift", None)
        self.shift = self.first.scale

    def forward(self, x):
        return self.first(x) / self.scale + self.shift


class Width(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.scale = config.scale
        self.weight = nn.Parameter(torch.randn(config.width, config.width))
        nn.init.uniform_(self.weight, -1 / self.weight.size(1), 1 / self.weight.size(1))
        self.bound = self.weight.norm().item()

    def forward(self, x):
        return x @ self.weight.clamp(max=self.bound) * self.scale


class Positions(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        self.table = nn.Embedding(length, width)
        self.positions = nn.Buffer(torch.arange(length).expand((1, -1)), persistent=False)
        self.types = nn.Buffer(torch.zeros(self.positions.size(), dtype=torch.long), persistent=False)

    def forward(self, x):
        return x + self.table(self.positions[:, : x.size(1)]) + self.types.unsqueeze(-1)
