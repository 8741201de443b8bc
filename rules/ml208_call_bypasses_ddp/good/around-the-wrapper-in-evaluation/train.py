import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 3)
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return self.layer(x)

    def loss(self, x, y):
        return nn.functional.cross_entropy(self(x) * self.weight, y)

    def distance(self, scores, y):
        return nn.functional.cross_entropy(scores, y)


def train(loader, held_out, rank):
    net = DistributedDataParallel(Net().to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        with torch.no_grad():
            before = net.module(x)
        optimizer.zero_grad()
        (net(x) - before).pow(2).mean().backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        return sum(net.module.loss(x, y) for x, y in held_out)
