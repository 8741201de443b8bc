import torch
from torch import nn


class Halved(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(10, width // 2)
        self.second = nn.Linear(width, 4)

    def forward(self, x):
        return self.second(self.first(x).relu())  # expect: ML501


class Flattened(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 32, 3)
        self.head = nn.Linear(1050, 10)

    def forward(self, images):
        return self.head(torch.flatten(self.conv(images), 1))  # expect: ML501
