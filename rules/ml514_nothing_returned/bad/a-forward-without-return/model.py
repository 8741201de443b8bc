import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = torch.relu(self.fc(x))


def step():
    net = Net()
    out = net(torch.rand(3, 4))
    return out.sum()  # expect: ML514
