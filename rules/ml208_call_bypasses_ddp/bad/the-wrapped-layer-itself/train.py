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


def objective(net, x, y):
    scores = net.module(x)  # expect: ML208
    return nn.functional.cross_entropy(scores, y)


def train(loader, rank, is_distributed):
    net = Net().to(rank)
    if is_distributed:
        net = DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(objective(net, x, y)).backward()
        scaler.step(optimizer)
        scaler.update()


def train_otherwise(loader, rank, is_distributed):
    net = inner = Net().to(rank)
    if is_distributed:
        net = DistributedDataParallel(net, device_ids=[rank])
        inner = net.module
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        scores = inner.forward(x)  # expect: ML208
        nn.functional.cross_entropy(scores, y).backward()
        optimizer.step()
