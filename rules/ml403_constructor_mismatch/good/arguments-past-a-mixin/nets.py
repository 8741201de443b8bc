from torch import nn

from registry import MODELS


class Base(nn.Module):
    def __init__(self, width, depth=1, norm=False):
        super().__init__()
        self.out = nn.Linear(width, depth)
        self.norm = norm

    def forward(self, x):
        return self.out(x)


class Tested:
    def test(self, x):
        return x


class Middle(Base):
    def __init__(self, width, rate):
        super().__init__(width)
        self.rate = rate


@MODELS.register_module()
class Mixed(Tested, Base):
    def __init__(self, width, **kwargs):
        super(Mixed, self).__init__(width, **kwargs)


@MODELS.register_module()
class Past(Middle):
    def __init__(self, width, **kwargs):
        super(Middle, self).__init__(width, **kwargs)
