import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.norm(x))


def one_epoch(net, loader, optimizer):
    net.train()
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()


def evaluate(net, loader):
    net.train()
    hits = 0
    for inputs, labels in loader:
        hits += (net(inputs).argmax(-1) == labels).sum().item()  # expect: ML706
    return hits


def main(loader, held_out):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(10):
        one_epoch(net, loader, optimizer)
        with torch.no_grad():
            print(evaluate(net, held_out))
