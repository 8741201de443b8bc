from torch import nn


class Walk(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Named(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = layers
        for number, layer in enumerate(layers):
            self.add_module(f"layer{number}", layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)
        self.walk = Walk([self.first, self.second])

    def forward(self, x):
        return self.walk(x)


def build(width):
    shared = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
    return Walk(nn.ModuleList([nn.Linear(width, width)])), Walk(list(shared)), Named([nn.Linear(width, width)]), shared
