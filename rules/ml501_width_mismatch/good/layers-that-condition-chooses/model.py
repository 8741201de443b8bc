import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, deep, pooled):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3) if deep else nn.Conv2d(3, 32, 3)
        self.body = nn.Conv2d(32, 16, 3)
        if pooled:
            self.down = nn.Linear(16, 8)
        else:
            self.down = nn.Linear(64, 8)
        self.extra = nn.Linear(8, 24) if pooled else None
        self.head = nn.Linear(24 if pooled else 8, 2)

    def forward(self, x):
        x = self.body(self.stem(x))
        x = self.down(F.adaptive_avg_pool2d(x, 2).flatten(1))
        if self.extra is not None:
            x = self.extra(x)
        return self.head(x)
