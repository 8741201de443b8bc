import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


def step(net: Net, x, y):
    scores = net(x)
    hard = (scores > 0).float()
    through = scores + (hard - scores).detach()
    F.mse_loss(through, y).backward()
