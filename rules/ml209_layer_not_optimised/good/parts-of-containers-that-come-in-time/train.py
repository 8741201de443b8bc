import torch
from torch import nn


class Growing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.blocks = nn.ModuleList([nn.Linear(width, width)])
        self.out = nn.Linear(width, 2)

    def grow(self):
        block = nn.Linear(self.width, self.width)
        self.blocks.append(block)
        return block

    def forward(self, x):
        for block in self.blocks:
            x = block(x).relu()
        return self.out(x)


def grown(batches):
    model = Growing(16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for depth in range(4):
        block = model.grow()
        optimizer.add_param_group({"params": block.parameters(), "lr": 0.1 / (depth + 2)})
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return model


def anew(batches):
    model = Growing(16)
    for depth in range(4):
        model.grow()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return model


def tuned(batches):
    network = nn.Sequential(nn.Linear(80, 16), nn.ReLU(), nn.Linear(16, 1000))
    network[2] = nn.Linear(16, 10)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    network[1] = nn.GELU()
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    network.append(nn.Softmax(dim=-1))
    return network


def exported(batches):
    network = nn.Sequential(nn.Linear(80, 16), nn.ReLU(), nn.Linear(16, 10))
    optimizer = torch.optim.Adam(network[2].parameters(), lr=1e-3)
    other = nn.Sequential(*network)
    other[2] = nn.Linear(16, 2)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    return other
