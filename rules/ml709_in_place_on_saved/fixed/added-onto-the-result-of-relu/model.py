import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        shortcut = x
        x = F.relu(self.conv(x))
        x = x + shortcut  # expect: ML709
        return x
