import torch
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.turn = Rearrange("b t d -> b d t")
        self.merge = Reduce("b ... -> b", "max")

    def forward(self, ids):
        b, t = ids.shape
        return self.merge(self.turn(self.embed(ids)))


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=16, q=16)
        self.head = nn.Linear(768, 10)

    def forward(self, x):
        return self.head(self.cut(x))


Patches()(torch.randn(1, 3, 48, 32))


class Mixed(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.stem = nn.Linear(10, 64)
        self.mix = EinMix("... c -> ... d", weight_shape="c d", bias_shape="d", c=64, d=inner)
        self.back = EinMix("b t d -> b t c", weight_shape="d c", d=inner, c=10)

    def forward(self, x):
        return self.back(self.mix(self.stem(x)))
