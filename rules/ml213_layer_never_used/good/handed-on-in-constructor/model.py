import copy

from torch import nn


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.layer = nn.Linear(width, width)
        self.net = nn.Sequential(self.first, nn.ReLU())
        self.layers = nn.ModuleList(copy.deepcopy(self.layer) for _ in range(depth))
        head = nn.Linear(width, 2)
        self.head = head
        self.heads = [head]

    def forward(self, x):
        x = self.net(x)
        for layer in self.layers:
            x = layer(x)
        return self.heads[0](x)


class Tied(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(10, width)
        self.decoder = nn.Linear(width, 10)
        self.bias = nn.Parameter(self.embed.weight[:, 0].clone())
        self.decoder.bias = self.bias

    def forward(self, ids):
        return self.decoder(self.embed(ids))
