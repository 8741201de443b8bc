import torch
import torch.nn.functional as F
from backbones import Backbone
from torch import nn


class Channels(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3)
        self.conv2 = nn.Conv2d(64, 128, 3)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(x, 2)
        return self.conv2(x)  # expect: ML501


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3)
        self.norm = nn.BatchNorm2d(64)

    def forward(self, x):
        x = self.conv(x)
        return self.norm(x)  # expect: ML501


class Pooled(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv = nn.Conv2d(3, 128, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(128, classes)

    def forward(self, x):
        x = torch.flatten(self.pool(self.conv(x)), 1)
        return self.fc(x)  # expect: ML501


class Upsampled(Backbone):
    def __init__(self, features):
        super().__init__()
        self.up = nn.Conv2d(features, 64 * 4, 3, 1, 1)
        self.shuffle = nn.PixelShuffle(2)
        self.last = nn.Conv2d(64, 3, 3, 1, 1)

    def forward(self, x):
        return self.last(self.shuffle(self.up(x)))  # expect: ML501
