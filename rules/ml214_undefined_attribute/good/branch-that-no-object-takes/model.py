from torch import nn

FUSED = False


class Bands(nn.Module):
    def __init__(self, bands=0):
        super().__init__()
        if bands == 0:
            self.filter = None
        else:
            self.bands = bands
            self.filter = nn.Conv1d(1, bands, 3)

    def forward(self, x):
        assert self.filter is not None
        return self.filter(x).view(x.shape[0] * self.bands, 1, -1)


class Checked(nn.Module):
    def __init__(self, bands=0):
        super().__init__()
        self.limit = bands
        if bands > 0:
            self.weights = nn.Linear(bands, bands)

    def forward(self, x):
        if self.limit == 0:
            raise RuntimeError("no bands to weigh")
        self.check()
        return self.weights(x)

    def check(self):
        assert self.limit


class Asking(nn.Module):
    def __init__(self, bands=None):
        super().__init__()
        self.ready = False
        if bands is not None:
            self.split, self.ready = nn.Linear(1, bands), True

    def forward(self, x):
        self.require()
        return self.split(x)

    def require(self):
        if not self.ready:
            raise RuntimeError("nothing to split into")


class Needed(nn.Module):
    def __init__(self, width=None):
        super().__init__()
        if width is None:
            raise ValueError("say how wide")
        if width:
            self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.norm(x)


class Unit(nn.Module):
    def __init__(self, width, config):
        super().__init__()
        self.groups = 1
        self.sampled = config.sampled
        assert self.sampled <= 0, "not supported"
        self.conv = nn.Conv2d(width, width, 3, padding=1, groups=self.groups)

    def forward(self, x):
        x = self.conv(x)
        if self.groups > 1:
            x = self.merge(x)
        if self.sampled > 0:
            x = self.sampler(x)
        if FUSED:
            x = self.fused(x)
        return x
