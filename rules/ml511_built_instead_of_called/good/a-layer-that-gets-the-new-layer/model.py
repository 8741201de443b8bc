import copy

from torch import nn


def clones(layer, count):
    return nn.ModuleList([copy.deepcopy(layer) for _ in range(count)])


class Mixer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads)

    def forward(self, x):
        return self.attention(x, x, x)[0]


class Refiner(nn.Module):
    def __init__(self, size, mixer):
        super().__init__()
        self.mixer = mixer
        self.size = size

    def forward(self, x):
        return x + self.mixer(x)


class Stack(nn.Module):
    def __init__(self, options):
        super().__init__()
        mixer = Mixer(options.width, options.heads)
        layer = Refiner(options.width, mixer)
        self.layers = clones(layer, 6)
        self.norm = nn.LayerNorm(layer.size)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)
