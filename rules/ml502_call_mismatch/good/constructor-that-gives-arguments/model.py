from functools import partial, partialmethod

from torch import nn


class Noise(nn.Module):
    def __init__(self, rate, axis, share):
        super().__init__()
        self.rate, self.axis, self.share = rate, axis, share

    def apply_to(self, x, axis, scale):
        return x * scale

    def forward(self, x):
        return x


class RowNoise(Noise):
    __init__ = partialmethod(Noise.__init__, axis=-3, share=True)
    apply_to = partialmethod(Noise.apply_to, axis=-3)


class LightRowNoise(RowNoise):
    pass


class FixedNoise(Noise):
    __init__ = partialmethod(Noise.__init__, 0.1, -2)


def halved(cls):
    made = cls.__init__

    def __init__(self, rate):
        made(self, rate / 2, -1, False)

    cls.__init__ = __init__
    return cls


@halved
class HalfNoise(Noise):
    def __init__(self, rate, axis, share):
        super().__init__(rate, axis, share)


class Later(Noise):
    def __init__(self, rate, axis):
        super().__init__(rate, axis, False)


Later.__init__ = partialmethod(Later.__init__, axis=-1)
normed = partial(nn.LayerNorm, eps=1e-6)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.drop = RowNoise(0.1)
        self.drops = nn.ModuleList([LightRowNoise(0.1, axis=-2), FixedNoise(True), HalfNoise(0.2), Later(0.3)])
        self.norm = normed(width)
        self.make = partial(Noise, 0.1, axis=-1)
        self.made = self.make(share=False)

    def forward(self, x):
        return self.drop.apply_to(self.norm(self.drop(x)), scale=2.0)
