from torch import nn


class Rearrange(nn.Module):
    """A layer of the project with the same name."""

    def __init__(self, pattern):
        super().__init__()
        self.pattern = pattern

    def forward(self, x):
        return x.flatten(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 64, 3), Rearrange("b c h w -> b (h w) c"), nn.Linear(128, 10))

    def forward(self, x):
        return self.net(x)
