from torch import nn

from registry import MODELS


@MODELS.register_module()
class Flat(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.out = nn.Linear(width, width)

    def forward(self, x):
        return self.out(x)


@MODELS.register_module()
class Pair(nn.Module):
    def __init__(self, left, right, rate):
        super().__init__()
        self.left = left
        self.right = right
        self.rate = rate

    def forward(self, x):
        return self.left(x) + self.rate * self.right(x)
