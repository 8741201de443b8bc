from torch import nn

from registry import MODELS


@MODELS.register_module()
class Flat(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, width)

    def forward(self, x):
        return self.out(x)


@MODELS.register_module()
class Pair(nn.Module):
    def __init__(self, left, right, rate):
        super().__init__()
        self.left = left
        self.right = right
        self.rate = rate

    def forward(self, x):
        return self.left(x) + self.rate * self.right(x)


@MODELS.register_module()
class Adapter:
    @classmethod
    def extend(cls, base, depth, rate):
        base.adapters = nn.ModuleList(nn.Linear(8, 8) for _ in range(depth))
        base.rate = rate
        return base


def extended(base, adapter):
    kind = MODELS.get(adapter.pop("type"))
    return kind.extend(MODELS.build(base), **adapter)


@MODELS.register_module()
class Wrapped(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = extended(**inner)

    def forward(self, x):
        return self.inner(x)
