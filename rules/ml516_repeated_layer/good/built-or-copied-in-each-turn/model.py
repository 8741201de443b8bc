import copy

from torch import nn


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        layer = nn.Linear(width, width)
        self.first = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.second = nn.ModuleList(copy.deepcopy(layer) for _ in range(depth))
        self.third = nn.ModuleList()
        for _ in range(depth):
            layer = nn.Linear(width, width)
            self.third.append(layer)

    def forward(self, x):
        for layer in (*self.first, *self.second, *self.third):
            x = layer(x)
        return x
