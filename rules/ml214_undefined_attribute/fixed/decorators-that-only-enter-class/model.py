from registry import BLOCKS, kept, named, register
from torch import nn


@register
class First(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)

    def forward(self, x):
        return self.projekt(x)  # expect: ML214


@register(name="second")
class Second(First):
    def forward(self, x):
        return self.output(x)  # expect: ML214


@named("third")
class Third(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        return self.gates[0](x) if self.name else x  # expect: ML214


@BLOCKS.register()
class Fourth(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, x):
        return self.query(x)  # expect: ML214


@kept
class Fifth(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)

    def forward(self, x, memory=None):
        return self.weight(x) if memory is None else self.remember(memory)  # expect: ML214
