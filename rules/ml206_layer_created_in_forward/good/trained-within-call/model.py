import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, width, registry):
        super().__init__()
        self.width = width
        self.registry = registry

    def forward(self, x, target):
        probe = nn.Linear(self.width, 1)
        optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
        for _ in range(10):
            optimizer.zero_grad()
            (probe(x) - target).square().mean().backward()
            optimizer.step()
        other = nn.Linear(self.width, 1)
        self.registry.keep(other)
        return probe(x) + other(x)
