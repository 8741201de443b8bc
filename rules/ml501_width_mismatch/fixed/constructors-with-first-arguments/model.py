from functools import partial

from torch import nn

Pointwise = partial(nn.Conv1d, kernel_size=1)


class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        conv = partial(nn.Conv2d, kernel_size=3, padding=1)
        self.stem = conv(3, 32)
        self.body = conv(32, 64)

    def forward(self, x):
        return self.body(self.stem(x))  # expect: ML501


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Pointwise(3, 32)
        norm = partial(nn.GroupNorm, 4)
        self.norm = norm(32)

    def forward(self, x):
        return self.norm(self.stem(x))  # expect: ML501
