from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 64, 3),
            Rearrange("b c h w -> b (h w) c"),
            nn.Linear(64, 10),  # expect: ML501
        )

    def forward(self, x):
        return self.net(x)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3)
        self.to_tokens = Rearrange("b c h w -> b (h w) c")
        self.norm = nn.LayerNorm(64)

    def forward(self, x):
        return self.norm(self.to_tokens(self.stem(x)))  # expect: ML501


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=16, p2=16),
            nn.Linear(2048, 256),  # expect: ML501
        )

    def forward(self, x):
        return self.net(x)


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 96, 3),
            Reduce("b c (h 2) (w 2) -> b c h w", "max"),
        )
        self.pool = Reduce("b c h w -> b c", reduction="mean")
        self.head = nn.Linear(96, 10)

    def forward(self, x):
        return self.head(self.pool(self.features(x)))  # expect: ML501


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=64, d=128)
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.mix(x))  # expect: ML501


class Heads(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.split = Rearrange("b t (k h d) -> k b h t d", k=3, h=8)
        self.merge = Rearrange("b h t d -> b t (h d)")
        self.out = nn.Linear(dim * 3, dim)

    def forward(self, x):
        q, k, v = self.split(self.qkv(x))
        return self.out(self.merge(q * k + v))  # expect: ML501


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(1, 16, 5), Rearrange("b c h w -> b (h w) c"), nn.LSTM(16, 64, batch_first=True)]
        self.net = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.net:
            x = layer(x)  # expect: ML501
        return x


class Flat(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3),
            nn.AdaptiveAvgPool2d((7, 7)),
            Rearrange("b ... -> b (...)"),
            nn.Linear(784, 10),  # expect: ML501
        )

    def forward(self, x):
        return self.net(x)
