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


def loss(net: Net, x, labels):
    found = net(x).log_softmax(dim=1)
    return F.binary_cross_entropy_with_logits(found, labels)  # expect: ML702
