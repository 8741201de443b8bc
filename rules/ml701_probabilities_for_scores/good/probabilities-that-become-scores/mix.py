import torch
from torch import nn
from torch.nn import functional as F


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(8, 4)
        self.other = nn.Linear(8, 4)

    def forward(self, x):
        mixed = (self.one(x).softmax(1) + self.other(x).softmax(1)) / 2
        return torch.log(mixed)


def loss(model: Mixture, x, y):
    return F.cross_entropy(model(x), y), F.cross_entropy(model.one(x).softmax(1) * 10, y)
