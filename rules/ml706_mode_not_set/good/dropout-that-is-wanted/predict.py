from functools import partial

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def several(path, inputs):
    net = Net()
    net.load_state_dict(torch.load(path))
    net.train()
    with torch.no_grad():
        return torch.stack([net(inputs) for _ in range(20)])


def wake(net):
    for part in net.modules():
        if isinstance(part, nn.Dropout):
            part.train()


def put_to_sleep(net):
    net.eval()


def by_partial(path, inputs):
    net = Net()
    net.load_state_dict(torch.load(path))
    sleep = partial(put_to_sleep, net)
    sleep()
    with torch.no_grad():
        return net(inputs)


def by_apply(path, inputs):
    net = Net()
    net.load_state_dict(torch.load(path))
    net.apply(lambda part: part.eval())
    with torch.no_grad():
        return net(inputs)


def awake(path, inputs):
    net = Net()
    net.load_state_dict(torch.load(path))
    net.eval()
    wake(net)
    with torch.no_grad():
        return torch.stack([net(inputs) for _ in range(20)])


def trained(loader, inputs):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.train()
    with torch.no_grad():
        return torch.stack([net(inputs) for _ in range(20)])
