import torch
from torch import nn


class Calls:
    def forward(self, x):
        return self.fc(x)


class Mixed(Calls, nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)


class Aliased(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def apply_to(self, x):
        return self.fc(x)

    forward = apply_to


def run(x):
    return Mixed()(x), Aliased()(torch.rand(2, 4))
