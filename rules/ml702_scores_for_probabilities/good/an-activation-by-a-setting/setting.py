import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, activation=None):
        super().__init__()
        self.head = nn.Linear(8, 1)
        self.activation = activation

    def forward(self, x):
        x = self.head(x)
        if self.activation is not None:
            x = self.activation(x)
        return x


def loss(x, y):
    return nn.BCELoss()(Net(torch.sigmoid)(x), y)
