import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def average(loader, states):
    net = Net()
    net.load_state_dict(states[0])
    with torch.no_grad():
        for inputs, _ in loader:
            net(inputs)
    return net
