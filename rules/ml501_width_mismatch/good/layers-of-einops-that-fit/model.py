import torch
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn


class Vit(nn.Module):
    def __init__(self, patch=16, dim=512, channels=3):
        super().__init__()
        patch_dim = channels * patch**2
        self.net = nn.Sequential(
            Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=patch, p2=patch),
            nn.LayerNorm(patch_dim),
            nn.Linear(patch_dim, dim),
            nn.LayerNorm(dim),
        )

    def forward(self, x):
        return self.net(x)


Vit()(torch.randn(2, 3, 224, 224))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 64, 3),
            Rearrange("b c h w -> b (h w) c"),
            nn.Linear(64, 10),
            Reduce("b n c -> b c", "mean"),
            nn.Linear(10, 4),
        )

    def forward(self, x):
        return self.net(x)


class FirstFeatures(Rearrange):
    """A layer that gives another shape than its pattern says."""

    def forward(self, x):
        return super().forward(x)[..., :32]


class Cut(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3)
        self.turn = FirstFeatures("b c h w -> b (h w) c")
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.turn(self.stem(x)))


class GivenPattern(nn.Module):
    def __init__(self, sizes, pattern):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3)
        self.cut = Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", **sizes)
        self.turn = Rearrange(pattern)
        self.head = nn.Linear(100, 10)
        self.other = nn.Linear(7, 10)

    def forward(self, x):
        x = self.stem(x)
        return self.head(self.cut(x)), self.other(self.turn(x))


class Heads(nn.Module):
    def __init__(self, heads=8, dim=64):
        super().__init__()
        self.qkv = nn.Linear(dim, dim * 3)
        self.split = Rearrange("b ... (k h d) -> k b h ... d", k=3, h=heads)
        self.merge = Rearrange("b h ... d -> b ... (h d)")
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = self.split(self.qkv(x))
        return self.out(self.merge(q * k + v))


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(10, 64)
        self.mix = EinMix("b t (g c) -> b t (g d)", weight_shape="g c d", bias_shape="g d", g=4, c=16, d=32)
        self.head = nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.mix(self.stem(x)))


class SequenceOrImage(nn.Module):
    def __init__(self, is_sequence):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3)
        if is_sequence:
            self.turn = Rearrange("b c h w -> b (h w) c")
        else:
            self.turn = nn.Identity()
        self.is_sequence = is_sequence
        self.sequence_norm = nn.LayerNorm(64)
        self.image_norm = nn.BatchNorm2d(64)

    def forward(self, x):
        x = self.turn(self.stem(x))
        return self.sequence_norm(x) if self.is_sequence else self.image_norm(x)


class Stages(nn.Module):
    def __init__(self, ratio=2):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3)
        self.stages = nn.ModuleList([])
        width = 32
        for _ in range(3):
            self.stages.append(
                nn.Sequential(
                    Rearrange("b c (h s1) (w s2) -> b (c s1 s2) h w", s1=ratio, s2=ratio),
                    nn.Conv2d(width * ratio**2, width * 2, 1),
                )
            )
            width *= 2

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return x


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 64, 3, padding=1),
            Reduce("b c (h 2) (w 2) -> b c h w", "max"),
            nn.Conv2d(64, 8, 3, padding=1),
            Reduce("b c h w -> b c 1 1", reduction="mean"),
            nn.Flatten(),
            nn.Linear(8, 10),
            Rearrange("b (n d) -> b n d", d=2),
            nn.Linear(2, 3),
        )

    def forward(self, x):
        return self.net(x)


Pooled()(torch.randn(2, 3, 32, 32))
