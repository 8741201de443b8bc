from functools import partial

from torch import nn


def through(x, layer):
    return layer(x).relu()


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.first = partial(through, layer=nn.Linear(width, width))  # expect: ML204
        proj = nn.Linear(width, width)
        self.second = partial(self._through, proj)  # expect: ML204
        self.others = [partial(through, layer=nn.Linear(width, width)) for _ in range(depth)]  # expect: ML204

    def _through(self, layer, x):
        return layer(x).relu()

    def forward(self, x):
        x = self.second(self.first(x))
        for step in self.others:
            x = step(x)
        return x
