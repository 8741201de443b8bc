import torch.nn.functional as F
from torch import nn


class ConvNorm(nn.Module):
    def __init__(self, inputs, outputs, is_active):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = nn.BatchNorm2d(outputs)
        self.is_active = is_active

    def forward(self, x):
        x = self.norm(self.conv(x))
        return F.relu(x) if self.is_active else x


class Pair(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.short = ConvNorm(inputs, width, False)
        self.long = ConvNorm(inputs, width, True)

    def forward(self, x):
        shortcut = self.short(x)
        x = self.long(x)
        x = x + shortcut  # expect: ML709
        return F.relu(x)
