import torch
from torch import nn


def register(module, name, value):
    module.register_buffer(name, value, persistent=False)


class Tables(nn.Module):
    def __init__(self, betas):
        super().__init__()
        register(self, "betas", betas)

    def forward(self, x):
        return x * self.betas


class Loops(nn.Module):
    def __init__(self, options):
        super().__init__()
        for name, value in options.items():
            setattr(self, name, value)

    def forward(self, x):
        return x * self.gain


class Numbered(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(2):
            self.add_module(f"conv{i}", nn.Conv1d(3, 3, 1))

    def forward(self, x):
        return self.conv1(self.conv0(x))


class Updated(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.__dict__.update(options)

    def forward(self, x):
        return x * self.gain
