import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x).softmax(1)


def loss(net: Net, x, y):
    found = net(x)
    found.clamp_(min=1e-6).log_()
    return F.cross_entropy(found, y)
