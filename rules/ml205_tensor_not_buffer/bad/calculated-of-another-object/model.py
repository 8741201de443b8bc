import torch
from torch import nn


class Grid(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.scale


class Scaled(nn.Module):
    def __init__(self, width, other: Grid):
        super().__init__()
        self.scale = other.scale * 2  # expect: ML205
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x) * self.scale


class Codec:
    def __init__(self, levels):
        self.levels = levels

    def table(self):
        return torch.linspace(-1, 1, self.levels)


class Decoder(nn.Module):
    def __init__(self, width, codec: Codec):
        super().__init__()
        self.codec = Codec(width)
        self.table = self.codec.table()  # expect: ML205
        self.given = codec.table()  # expect: ML205
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x) * self.table + self.given


class Block(nn.Module):
    def __init__(self, width, table):
        super().__init__()
        self.lin = nn.Linear(width, width)
        self.table = table  # expect: ML205

    def forward(self, x):
        return self.lin(x) + self.table


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        table = torch.sin(torch.arange(width).float() / 2)
        self.blocks = nn.ModuleList(Block(width, table) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
