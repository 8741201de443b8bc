from torch import nn


class Base(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))


class Encoder(Base):
    pass


class Free(Base):
    def __init__(self, *args, scale, **kwargs):
        super().__init__(*args, **kwargs)
        self.scale = scale


def build(width, *, depth=2):
    return Base(width, depth)
