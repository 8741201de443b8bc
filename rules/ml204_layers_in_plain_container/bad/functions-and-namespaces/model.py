from types import SimpleNamespace

from torch import nn
from torch.nn import functional


class Closure(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.Linear(width, width)

        def run(x):
            return layer(x)

        self.run = run  # expect: ML204

    def forward(self, x):
        return self.run(x)


class Lambda(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.Linear(width, width)
        self.run = lambda x: layer(x)  # expect: ML204

    def forward(self, x):
        return self.run(x)


class Weights(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.Linear(width, width)
        self.run = lambda x: functional.linear(x, layer.weight)  # expect: ML204

    def forward(self, x):
        return self.run(x)


class Space(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.parts = SimpleNamespace(first=nn.Linear(width, width), second=nn.Linear(width, width))  # expect: ML204

    def forward(self, x):
        return self.parts.second(self.parts.first(x))


class SpaceLater(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.parts = SimpleNamespace()  # expect: ML204
        self.parts.first = nn.Linear(width, width)

    def forward(self, x):
        return self.parts.first(x)
