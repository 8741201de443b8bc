from torch import nn


class Adapter(nn.Module):
    def __init__(self, name, width):
        super().__init__()
        self.name = name
        self.down = nn.Linear(width, 4)
        self.up = nn.Linear(4, width)

    def forward(self, x):
        return x + self.up(self.down(x))


def enter(owner, layers):
    for layer in layers:
        owner.register_module(layer.name, layer)


class Adapters(nn.Module):
    def __init__(self, names, width):
        super().__init__()
        self.adapters = [Adapter(name, width) for name in names]
        self.others = [Adapter(f"other_{name}", width) for name in names]
        self.more = [Adapter(f"more_{name}", width) for name in names]

    def attach(self):
        for adapter in self.adapters:
            self.add_module(adapter.name, adapter)
        enter(self, self.others)
        for adapter in self.more:
            setattr(self, adapter.name, adapter)

    def forward(self, x):
        for first, second, third in zip(self.adapters, self.others, self.more):
            x = third(second(first(x)))
        return x
