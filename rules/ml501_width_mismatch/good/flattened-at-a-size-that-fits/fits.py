import torch
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(8 * 16 * 16, 10)

    def forward(self, x):
        x = self.features(x)
        return self.head(x.view(x.size(0), -1))


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.late = nn.LazyLinear(12)
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        x = self.pool(self.conv(x))
        return self.head(self.late(x.reshape(-1, 32)))


class AnySize(nn.Module):
    def __init__(self, side=28):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.head = nn.Linear(4 * side * side, 2)

    def forward(self, x):
        return self.head(self.conv(x).flatten(1))


print(Small()(torch.randn(1, 3, 32, 32)), Pooled()(torch.randn(1, 3, 90, 70)), AnySize(9)(torch.zeros(1, 1, 9, 9)))
