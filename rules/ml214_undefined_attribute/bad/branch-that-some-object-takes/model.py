import torch
from torch import nn

VERBOSE = False


def be_verbose():
    global VERBOSE
    VERBOSE = True


class Unit(nn.Module):
    def __init__(self, width, groups):
        super().__init__()
        self.groups = 1
        self.depth = 1
        self.width = width
        assert self.width > 0
        self.conv = nn.Conv2d(width, width, 3, padding=1, groups=groups)

    def grow(self):
        self.depth += 1

    def forward(self, x):
        x = self.conv(x)
        if self.groups > 0:
            x = self.merge(x)  # expect: ML214
        if self.depth > 1:
            x = self.deepen(x)  # expect: ML214
        if self.width > 1:
            x = self.widen(x)  # expect: ML214
        if VERBOSE:
            self.tell(x)  # expect: ML214
        return x


class Sliced(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 1

    def forward(self, x):
        if self.count == 2:
            x = self.halve(x)  # expect: ML214
        return torch.relu(x)


def sliced(count):
    model = Sliced()
    model.count = count
    return model
