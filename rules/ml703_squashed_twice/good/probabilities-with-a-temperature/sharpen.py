import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(x).softmax(1)


def sharpen(net: Net, x, temperature):
    return torch.softmax(net(x) / temperature, dim=1), torch.softmax(net(x).log() * 2, dim=1)
