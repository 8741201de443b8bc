from torch import nn


class Embedding(nn.Module):
    def __init__(self, kind, width, count=10):
        super().__init__()
        if "vector" in kind:
            self.proj = nn.Linear(256, width)
            self.has_proj = True
        elif kind == "id":
            self.table = nn.Embedding(count, width)

    def forward(self, x):
        return self.proj(x) if self.has_proj else self.table(x)  # expect: ML214


class Layer(nn.Module):
    def __init__(self, width, config=None):
        super().__init__()
        if config is not None:
            self.use_norm = config["use_norm"]
        self.norm = nn.LayerNorm(width) if self.use_norm else nn.Identity()  # expect: ML214

    def forward(self, x):
        return self.norm(x)


class Dropped(nn.Module):
    def __init__(self, width, rate=None):
        super().__init__()
        self.proj = nn.Linear(width, width)
        if rate:
            self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.drop(self.proj(x))  # expect: ML214


class Bands(nn.Module):
    def __init__(self, width, bands=0):
        super().__init__()
        self.width = width
        if bands == 0:
            self.filter = nn.Identity()
        else:
            self.bands = bands
            self.filter = nn.Conv1d(1, bands, 3)

    def forward(self, x):
        assert x.shape[-1] == self.width and self.width > 1
        return self.filter(x).view(x.shape[0] * self.bands, 1, -1)  # expect: ML214
