import torch
from torch import nn


def conv1x1(channels, made):
    return nn.Conv2d(channels, made, kernel_size=1, bias=False)


class Fuse(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weigh = nn.Sequential(conv1x1(channels, channels), nn.ReLU(), conv1x1(channels, channels), nn.Sigmoid())

    def forward(self, x):
        return x * self.weigh(torch.flatten(x, 2).mean(2)[..., None, None])
