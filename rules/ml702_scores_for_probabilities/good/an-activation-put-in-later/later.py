import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(x)


def loss(net: Net, x, y):
    return nn.BCELoss()(net(x), y)


def main(x, y):
    net = Net()
    net.head = nn.Sequential(nn.Linear(8, 1), nn.Sigmoid())
    return loss(net, x, y)
