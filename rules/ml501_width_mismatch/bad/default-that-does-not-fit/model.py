import torch
from torch import nn


class UNet(nn.Module):
    def __init__(self, channels=3, width=64):
        super().__init__()
        self.pairs = nn.Conv2d(2, 17, 1)
        self.first = nn.Conv2d(channels, width, 3)
        self.last = nn.Conv2d(64, 1, 1)

    def forward(self, x):
        x = self.pairs(torch.stack([x, x], dim=1))
        x = self.first(x)  # expect: ML501
        return self.last(x)  # expect: ML501
