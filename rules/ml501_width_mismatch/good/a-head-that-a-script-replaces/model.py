from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.norm = nn.InstanceNorm2d(32)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = self.norm(self.conv(x)).mean((2, 3))
        return self.head(x)
