from torch import nn


def register_all(owner, layers):
    for number, layer in enumerate(layers):
        owner.add_module(str(number), layer)


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class ByHelper(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(3)]
        register_all(self, self.layers)

    def forward(self, x):
        return self.layers[1](x)


class ByOther(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(3)]
        self.stack = Stack(self.layers)

    def forward(self, x):
        return self.stack(x) + self.layers[0](x)
