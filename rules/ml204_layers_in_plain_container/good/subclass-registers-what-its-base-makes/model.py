from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Model(Base):
    def __init__(self, width):
        super().__init__(width)
        self.layers = nn.ModuleList(self.layers)


class ByHand(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.experts = [nn.Linear(width, width) for _ in range(3)]

    def forward(self, x):
        return sum(expert(x) for expert in self.experts)

    def _apply(self, fn, recurse=True):
        for expert in self.experts:
            expert._apply(fn)
        return super()._apply(fn)

    def parameters(self, recurse=True):
        for expert in self.experts:
            yield from expert.parameters()
