import torch
import torch.nn.functional as F
from torch import nn


class Pipeline(nn.Sequential):
    def __init__(self, *steps):
        super().__init__(*[Step(step) for step in steps])


class Step(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Registry(nn.Module):
    def __init__(self):
        super().__init__()
        self.kinds = []
        self.kinds.append(nn.ReLU)

    def add_module(self, name, module):
        super().add_module(name, module())


net = Pipeline(F.relu, torch.tanh)
registry = Registry()
registry.add_module("act", nn.ReLU)
