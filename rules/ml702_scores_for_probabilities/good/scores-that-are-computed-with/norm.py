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


def loss(net: Net, x, y):
    scores = net(x)
    shares = scores / scores.sum(1, keepdim=True)
    own = (scores - scores.logsumexp(1, keepdim=True))
    return F.binary_cross_entropy(shares, y) + F.nll_loss(own, y.argmax(1))
