from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, scale=1.0):
        return self.proj(x) * scale


class Network(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)

    def forward(self, x):
        update = self.block(x, 0.5)
        x.view(-1).mul_(0.9)  # expect: ML709
        return x + update
