import torch
from torch import nn


class Pyramid(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.incoming = 3
        self.stages = nn.ModuleList(self.stage(width) for width in widths)

    def stage(self, width):
        conv = nn.Conv2d(self.incoming, width, 3)
        self.incoming = width
        return conv

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class Running(nn.Module):
    calls = 0
    seen: int

    def __init__(self, width):
        super().__init__()
        self.register_buffer("state", torch.zeros(width))

    def forward(self, x):
        self.state = 0.9 * self.state + 0.1 * x
        self.calls += 1
        self.seen += 1
        return self.state


class Lazy(nn.Module):
    def forward(self, x):
        if not hasattr(self, "scale"):
            self.scale = x.std()
        x = x / self.scale
        self.scale = x.std()
        try:
            last = self.last
        except AttributeError:
            last = x
        self.last = x
        return x + last


class Started(nn.Module):
    def start(self):
        self.step = 0

    def forward(self, x):
        self.step = self.step + 1
        return x * self.step


class Counted(nn.Module):
    def forward(self, x):
        self.count = self.count + 1
        return x


class Base(nn.Module):
    def forward(self, x):
        y = self.shift + x
        self.shift = y
        return y


class Shifted(Base):
    def __init__(self):
        super().__init__()
        self.shift = 1


class Guarded(nn.Module):
    def forward(self, x, first):
        if not first:
            x = x + self.before
        self.before = x
        for part in x:
            if part is not x[0]:
                part = part + self.part
            self.part = part
        return x


class Later(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.act = lambda x: self.gain * x

        def report():
            return self.bias, self.gain

        self.report = report
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = 1

    def forward(self, x):
        return self.act(x)


def main(x):
    counted = Counted()
    counted.count = 0
    return Pyramid((8, 16))(x), Running(4)(x), Lazy()(x), Started()(x), counted(x), Shifted()(x), Guarded()(x, True), Later(3)(x)
