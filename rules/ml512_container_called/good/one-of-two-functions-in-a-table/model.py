import torch
from torch import nn


PAIRS = {"sigmoid": (torch.sigmoid, torch.logit), "tanh": (torch.tanh, torch.atanh)}


def pair(name):
    return PAIRS[name]


class Net(nn.Module):
    def __init__(self, name="tanh"):
        super().__init__()
        self.act, self.inverse = pair(name)

    def forward(self, x):
        return self.inverse(self.act(x))
