import copy

from torch import nn


class Copied(nn.Module):
    heads = {"small": nn.Linear(8, 2), "large": nn.Linear(8, 9)}

    def __init__(self):
        super().__init__()
        self.own = nn.ModuleDict(copy.deepcopy(self.heads))

    def forward(self, x, name):
        return self.own[name](x)


class Replaced(nn.Module):
    mix = nn.Linear(8, 8)

    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(8, 8)

    def forward(self, x):
        return self.mix(x)


class Base(nn.Module):
    mix = nn.Linear(8, 8)

    def forward(self, x):
        return self.mix(x)


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(8, 8)


class Plain(nn.Module):
    act = nn.ReLU()
    pool = [nn.MaxPool1d(2), nn.Dropout(0.1)]

    def forward(self, x):
        for layer in self.pool:
            x = layer(x)
        return self.act(x)
