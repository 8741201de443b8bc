from torch import nn


class Pyramid(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.stages = nn.ModuleList(self.stage(width) for width in widths)

    def stage(self, width):
        conv = nn.Conv2d(self.incoming, width, 3)  # expect: ML214
        self.incoming = width
        return conv

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class Running(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        self.state = 0.9 * self.state + 0.1 * self.proj(x)  # expect: ML214
        return self.state


class Counting(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        self.calls += 1  # expect: ML214
        return self.proj(x)


class Ordered(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, self.hidden)  # expect: ML214
        self.hidden = 2 * width

    def forward(self, x):
        return self.proj(x)


def main(x):
    return Pyramid((8, 16))(x), Running(4)(x), Counting(4)(x), Ordered(4)(x)
