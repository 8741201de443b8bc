import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(F.relu(self.body(x))).softmax(-1)


def loss(net: Net, x, y):
    return F.nll_loss(F.log_softmax(net(x), dim=-1), y)  # expect: ML703
