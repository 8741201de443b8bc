import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))


def step(net: Net, x, mask):
    found = (torch.sigmoid(net(x)) > 0.5).float()
    loss = F.binary_cross_entropy(found, mask)
    loss.backward()  # expect: ML704
    return loss.item()
