import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def foward(self, x):  # expect: ML513
        return torch.sigmoid(self.fc(x))


def score():
    net = Net().eval()
    return net(torch.rand(3, 4))
