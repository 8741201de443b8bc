from torch import nn

BLOCKS = {}


def register(name):
    def wrap(cls):
        BLOCKS[name] = cls
        return cls

    return wrap


@register("dense")
class Dense(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = nn.Linear(width, width)

    def forward(self, x):
        return self.lin(x)


@register("conv")
class Conv(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 1)

    def forward(self, x):
        return self.conv(x)
