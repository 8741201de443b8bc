import torch
from torch import nn


class Branches(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = nn.Linear(8, 48)
        self.side = nn.Linear(32, 32)
        self.norm = nn.LayerNorm(32)
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        x = self.stem(x)
        y = torch.relu(self.side(x))  # expect: ML501
        z = self.norm(y) + 1
        return self.head(z * 2)


class Summed(nn.Module):
    def __init__(self, extra, width=24):
        super().__init__()
        self.stem = nn.Linear(8, 24)
        self.skip = nn.Linear(width, width)
        self.head = nn.Linear(24, 3)
        self.extra = extra

    def forward(self, x):
        x = self.stem(x)
        more = self.extra(x)
        x = self.skip(x)  # expect: ML501
        x = x + more
        return self.head(x)


class Row(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(8, 40),
            nn.Linear(20, 20),  # expect: ML501
            nn.ReLU(),
            nn.Linear(40, 3),
        )

    def forward(self, x):
        return self.net(x)
