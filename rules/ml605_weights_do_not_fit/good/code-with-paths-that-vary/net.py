import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def load(name):
    net = Net()
    for number in range(3):
        net.load_state_dict(torch.load(f"{name}{number or ''}.pt"))
    net.load_state_dict(torch.load("%s.pt" % name))
    net.load_state_dict(torch.load("{:>3}.pt".format("net")))
    return net
