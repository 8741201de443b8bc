from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 32)
        self.turn = Rearrange("b c h w -> b (h w) c")

    def forward(self, ids):
        b, t = ids.shape
        return self.turn(self.embed(ids))  # expect: ML520


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d((40, 40))
        self.cut = Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=16, q=16)
        self.head = nn.Linear(768, 10)

    def forward(self, x):
        return self.head(self.cut(self.pool(x)))  # expect: ML520


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(10, 32)
        self.mix = EinMix("b t c -> b t d", weight_shape="c d", c=64, d=128)

    def forward(self, x):
        return self.mix(self.stem(x))  # expect: ML520


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 8, 3),
            nn.Flatten(),
            Reduce("b c h w -> b c", "mean"),  # expect: ML520
        )

    def forward(self, x):
        return self.net(x)
