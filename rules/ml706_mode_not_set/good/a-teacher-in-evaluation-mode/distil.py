import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 3))

    def forward(self, x):
        return self.layers(x)


def distil(loader):
    student, teacher = Net(), Net()
    student.train()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for inputs in loader:
        teacher.eval()
        optimizer.zero_grad()
        (student(inputs) - teacher(inputs)).pow(2).mean().backward()
        optimizer.step()


def probe(trunk, loader, held_out):
    head = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(trunk(inputs)), labels).backward()
        optimizer.step()
        trunk.eval()
        with torch.no_grad():
            print(head(trunk(held_out)))


class Still(nn.Module):
    def __init__(self, trunk):
        super().__init__()
        self.trunk = trunk
        self.trunk.eval()

    def forward(self, x):
        with torch.no_grad():
            return self.trunk(x)


def probe_again(trunk, loader, held_out):
    still, head = Still(trunk), nn.Linear(3, 3)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(still(inputs)), labels).backward()
        optimizer.step()
        still.eval()
        with torch.no_grad():
            print(head(still(held_out)))


def fit(loader, held_out):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
        frozen = copy.deepcopy(net)
        frozen.eval()
        with torch.no_grad():
            print(frozen(held_out))
