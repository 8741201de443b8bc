import torch
from torch import nn


class Growing(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.blocks = nn.ModuleList([nn.Linear(width, width)])
        self.out = nn.Linear(width, 2)

    def grow(self):
        self.blocks.append(nn.Linear(self.width, self.width))  # expect: ML209

    def forward(self, x):
        for block in self.blocks:
            x = block(x).relu()
        return self.out(x)


def grown(batches):
    model = Growing(16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for depth in range(4):
        model.grow()
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    return model


def tuned(batches):
    network = nn.Sequential(nn.Linear(80, 16), nn.ReLU(), nn.Linear(16, 1000))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    network[2] = nn.Linear(16, 10)  # expect: ML209
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x), y).backward()
        optimizer.step()
    return network
