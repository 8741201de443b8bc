from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()


class Middle(Base):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)


class Top(Middle):
    def __init__(self, width):
        super(Middle, self).__init__()
        self.width = width
        self.act = nn.ReLU()
        if width > 3:
            self.act = Middle(width)

    def forward(self, x):
        return self.act(x, x)


def with_cache(model, x, cache):
    return x


def patch(model: Top):
    Middle.forward = with_cache
    return Middle(3)(1, 2)
