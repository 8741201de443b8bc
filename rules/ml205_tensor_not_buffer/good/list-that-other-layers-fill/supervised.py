import torch
from torch import nn
from torch.nn.functional import interpolate


class Level(nn.Module):
    def __init__(self, index, inner, head, heads):
        super().__init__()
        self.index = index
        self.inner = inner
        self.head = head
        self.heads = heads

    def forward(self, x):
        x = self.inner(x)
        self.heads[self.index] = self.head(x)
        return x


class Supervised(nn.Module):
    def __init__(self, width, levels):
        super().__init__()
        self.heads: list[torch.Tensor] = [torch.rand(1)] * levels
        layers = nn.Conv2d(3, width, 1)
        for index in range(levels):
            layers = Level(index, layers, nn.Conv2d(width, 1, 1), heads=self.heads)
        self.layers = layers
        self.last = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        out = self.last(self.layers(x))
        every = [out]
        for head in self.heads:
            every.append(interpolate(head, out.shape[2:]))
        return torch.stack(every, dim=1)
