import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return F.softmax(self.fc(x), dim=1)


@torch.no_grad()
def evaluate(net: Net, x, y):
    return F.cross_entropy(net(x), y).item()


def compare(net: Net, x, y):
    with torch.no_grad():
        return F.cross_entropy(net(x), y)
