from torch import nn


class Tower(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.widen = nn.Linear(16, width)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(3)])

    def forward(self, x):
        x = self.widen(x)
        for block in self.blocks:
            kept = x
            x = block(x) + kept
        return x
