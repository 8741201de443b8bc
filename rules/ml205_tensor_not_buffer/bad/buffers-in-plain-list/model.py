import torch
from torch import nn


class Scales(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.scales = []  # expect: ML205
        for number in range(count):
            self.register_buffer(f"scale{number}", torch.ones(width))
            self.scales.append(getattr(self, f"scale{number}"))

    def forward(self, x):
        for scale in self.scales:
            x = x * scale
        return x


class Named(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("std", torch.ones(width))
        self.statistics = {"mean": self.mean, "std": self.std}  # expect: ML205

    def forward(self, x):
        return (x - self.statistics["mean"]) / self.statistics["std"]


class Pair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("low", torch.zeros(width))
        self.register_buffer("high", torch.ones(width))
        self.bounds = (self.low, self.high)  # expect: ML205

    def forward(self, x):
        low, high = self.bounds
        return low + torch.sigmoid(x) * (high - low)


class Drawn(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.offsets = []  # expect: ML205
        for number, offset in enumerate(torch.rand(count, width)):
            self.register_buffer("offset_%d" % number, offset)
            self.offsets.append(getattr(self, "offset_%d" % number))

    def forward(self, x):
        return [x + offset for offset in self.offsets]
