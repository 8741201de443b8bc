from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.values = nn.Linear(96, 64)
        self.out = nn.Linear(96, 96)

    def forward(self, x):
        batch, steps, _ = x.shape
        heads = self.values(x).view(batch, steps, 4, 16).transpose(1, 2)
        joined = heads.transpose(1, 2).reshape(batch, steps, -1)
        return self.out(joined)  # expect: ML501


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 48, 3)
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        x = self.conv(x)
        batch, channels, height, width = x.shape
        x = x.view(batch, channels, height * width).mean(-1)
        return self.head(x)  # expect: ML501
