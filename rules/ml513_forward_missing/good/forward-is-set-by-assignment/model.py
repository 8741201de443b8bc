import torch
from torch import nn


class Switch(nn.Module):
    def __init__(self, fast):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.forward = self.forward_fast if fast else self.forward_slow

    def forward_fast(self, x):
        return self.fc(x)

    def forward_slow(self, x):
        return self.fc(x.double().float())


def run():
    return Switch(True)(torch.rand(2, 4))
