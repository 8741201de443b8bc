from torch import nn


class Cached(nn.Module):
    def forward(self, x):
        if not hasattr(self, "cache"):
            self.reset(x)
        bias = getattr(self, "bias", None)
        return x + self.cache if bias is None else x + self.bias

    def reset(self, x):
        for self.step in range(3):
            self.cache = x * self.step


class Plain:
    def __init__(self, width):
        self.width = width


class Both(nn.Module):
    def __init__(self, width):
        nn.Module.__init__(self)
        Plain.__init__(self, width)

    def forward(self, x):
        # self.nothing(x) was here
        return x / self.width
