from functools import partialmethod

from torch import nn


class Noise(nn.Module):
    def __init__(self, rate, axis, share):
        super().__init__()
        self.rate, self.axis, self.share = rate, axis, share

    def forward(self, x):
        return x


class RowNoise(Noise):
    __init__ = partialmethod(Noise.__init__, axis=-3)


def named(cls):
    cls.title = cls.__name__.lower()
    return cls


@named
class LoudNoise(Noise):
    def __init__(self, rate):
        super().__init__(rate, -1)  # expect: ML502


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = RowNoise(0.1)  # expect: ML502
        self.loud = LoudNoise(0.1, gain=2)  # expect: ML502

    def forward(self, x):
        return self.drop(x)
