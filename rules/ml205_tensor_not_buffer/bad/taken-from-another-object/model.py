import numpy as np
import torch
from torch import nn


class Data:
    def __init__(self, path):
        values = np.load(path)
        self.mean = torch.from_numpy(values.mean(0))
        self.width = values.shape[1]


class Normalised(nn.Module):
    def __init__(self, dataset):
        super().__init__()
        self.mean = dataset.mean  # expect: ML205
        self.lin = nn.Linear(dataset.width, 10)

    def forward(self, x):
        return self.lin(x - self.mean)


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("scale", torch.ones(width))

    def forward(self, x):
        return x * self.scale


class Unscale(nn.Module):
    def __init__(self, other: Scale):
        super().__init__()
        self.scale = other.scale  # expect: ML205

    def forward(self, x):
        return x / self.scale


class Both(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = Scale(width)
        self.scale = self.first.scale  # expect: ML205

    def forward(self, x):
        return self.first(x) / self.scale


def build(path):
    data = Data(path)
    return Normalised(data).to("cuda")
