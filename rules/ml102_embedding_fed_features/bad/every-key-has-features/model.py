import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self, names=("ids", "features")):
        super().__init__()
        self.names = names
        self.before = nn.Linear(20, 20)
        self.parts = nn.ModuleDict({"ids": nn.Embedding(10, 8), "features": nn.Linear(20, 8)})
        self.layers = nn.ModuleList([nn.Embedding(10, 8), nn.Linear(20, 8)])

    def forward(self, x):
        features = self.before(x)
        return [self.parts[name](features) for name in self.parts]  # expect: ML102

    def columns(self, x, n):
        features = self.before(x)
        return [self.layers[i](features[:, i]) for i in range(n)]  # expect: ML102

    def each(self, x):
        given = {name: self.before(x) for name in self.names}
        return [self.parts[name](one) for name, one in given.items()]  # expect: ML102
