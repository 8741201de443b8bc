import torch
from torch import nn


class Merge(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 32)
        self.second = nn.Linear(64, 16)
        self.out = nn.Linear(48, 8)
        self.near = nn.Conv2d(3, 16, 3)
        self.far = nn.Conv2d(3, 24, 3)
        self.both = nn.Conv2d(40, 16, 1)

    def forward(self, x, y):
        y = self.out(torch.concat((self.first(y), self.second(y)), axis=-1))  # expect: ML501
        x = self.both(torch.cat([self.near(x), self.far(x)], axis=1))  # expect: ML501
        return x, y
