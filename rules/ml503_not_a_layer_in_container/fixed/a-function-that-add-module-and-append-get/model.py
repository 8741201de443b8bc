from torch import nn


def squared(x):
    return x * x


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.add_module("act", squared)  # expect: ML503

    def forward(self, x):
        return self.act(self.proj(x))


class Chain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.steps = nn.ModuleList()
        self.steps.append(nn.Linear(width, width))
        self.steps.append(lambda x: x.flatten(1))  # expect: ML503

    def forward(self, x):
        for step in self.steps:
            x = step(x)
        return x


def chain(width):
    layers = [nn.Linear(width, width)]
    layers.append(nn.ReLU())  # expect: ML503
    return nn.Sequential(*layers)
