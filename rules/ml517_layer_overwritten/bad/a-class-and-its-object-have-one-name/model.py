from torch import nn


class Wrapped(nn.Module):
    def __init__(self, kind, width):
        super().__init__()
        self.inner = kind(width, width)

    def forward(self, x):
        return self.inner(x)


def stacked(depth: int = 3):
    layers = nn.Sequential()
    layer = nn.Linear
    for number in range(depth):
        layer = Wrapped(layer, 8)  # expect: ML517
        layers.add_module(f"layer{number}", layer)
    return layers
