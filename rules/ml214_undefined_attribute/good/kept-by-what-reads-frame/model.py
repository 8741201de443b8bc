from fastcore.basics import store_attr
from torch import nn


class Block(nn.Module):
    def __init__(self, width, scale, depth):
        super().__init__()
        store_attr("width,scale")
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x) * self.scale / self.width


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        store_attr()
        self.blocks = nn.ModuleList(Block(width, 1, depth) for _ in range(depth))

    @property
    def limit(self):
        return self._limit

    @limit.setter
    def limit(self, value):
        self._limit = value

    def forward(self, x):
        for block in self.blocks[: self.depth]:
            x = block(x)
        return x
