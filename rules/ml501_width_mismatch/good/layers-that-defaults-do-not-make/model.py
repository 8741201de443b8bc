from torch import nn

NORMS = {"batch": nn.BatchNorm2d, "layer": nn.LayerNorm, "instance": nn.InstanceNorm2d}


class Pooled(nn.Module):
    def __init__(self, width=48, kind="batch"):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 1)
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.norm = NORMS[kind](width)
        make = NORMS.get(kind)
        self.last = make(width)

    def forward(self, x):
        return self.last(self.norm(self.pool(self.conv(x))))


class Slim(nn.Module):
    def __init__(self, width=48, kind="batch", slim=24):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3)
        if kind == "batch":
            self.norm = nn.BatchNorm2d(width)
        elif kind == "slim":
            self.norm = nn.BatchNorm2d(slim)
        else:
            self.norm = nn.Identity()

    def forward(self, x):
        return self.norm(self.conv(x))
