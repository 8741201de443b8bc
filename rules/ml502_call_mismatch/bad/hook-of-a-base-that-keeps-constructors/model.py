from torch import nn


class Block(nn.Module):
    kinds = []

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.kind = cls.__name__.lower()
        cls.kinds.append(cls)


class Gate(Block):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x * self.proj(x).sigmoid()


def build():
    return nn.Sequential(Gate(8), Gate())  # expect: ML502
