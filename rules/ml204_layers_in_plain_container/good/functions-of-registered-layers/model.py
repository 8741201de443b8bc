from types import SimpleNamespace

import torch
from torch import nn


class Registered(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = nn.Linear(width, width)
        self.layer = layer
        self.run = lambda x: layer(x)
        self.scaled = lambda x: self.layer(x) * 2

    def forward(self, x):
        return self.scaled(self.run(x))


class Settings(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.settings = SimpleNamespace(width=width, depth=depth, activation=nn.ReLU())
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = self.settings.activation(layer(x))
        return x


class Both(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.parts = SimpleNamespace(first=nn.Linear(width, width))
        self.add_module("first", self.parts.first)

    def forward(self, x):
        return self.parts.first(x)


class Frozen(nn.Module):
    def __init__(self, width, state):
        super().__init__()
        teacher = nn.Linear(width, width)
        teacher.load_state_dict(state)
        self.judge = lambda x: teacher(x).detach()
        self.out = nn.Linear(width, width)

    def forward(self, x):
        with torch.no_grad():
            target = self.judge(x)
        return (self.out(x) - target).square().mean()


class Makers(nn.Module):
    def __init__(self, width):
        super().__init__()
        make = lambda: nn.Linear(width, width)
        self.first, self.second = make(), make()

    def forward(self, x):
        return self.second(self.first(x))


class Handed(nn.Module):
    """A plan asks a layer for its size; the weights that are trained are the module's own."""

    def __init__(self, width, plan):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, width))
        self.prepare = {}
        holder = nn.Linear(width, width)

        def prepare(x):
            return plan.prepare(holder, x)

        self.prepare["first"] = prepare

    def forward(self, x):
        return self.prepare["first"](x) @ self.weight
