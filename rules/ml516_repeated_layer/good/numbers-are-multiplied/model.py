from torch import nn


class Pyramid(nn.Module):
    def __init__(self, depth):
        super().__init__()
        widths = [64] * depth
        self.layers = nn.ModuleList([nn.Linear(width, width) for width in widths])
        self.slots = nn.ModuleList([None] * depth)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
