from state import counted, with_cache, with_methods, with_scale
from torch import nn


@with_cache
class Decoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, memory=None):
        past = self.past(memory)
        return self.proj(x) if past is None else past


class Deep(Decoder):
    def forward(self, x, memory=None):
        return self.proj(self.proj(x)) + (self.past(memory) or 0)


@with_scale(2.0)
class Scaled(nn.Module):
    def forward(self, x):
        return self.scaled(x) / self.scale


@with_methods("encode", "decode")
class Codec(nn.Module):
    def forward(self, x):
        return self.decode(self.encode(x))


@counted
class Layer(nn.Module):
    def forward(self, x):
        return x + self.count()


class Later(nn.Module):
    def forward(self, x):
        return self.past(x)


with_cache(Later)
