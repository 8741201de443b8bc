import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(80, 64), nn.ReLU(), nn.Linear(64, 32)])
        self.skips = nn.ModuleList([nn.Linear(80, 16), nn.Linear(16, 16), nn.Linear(32, 16)])
        self.widening = nn.ModuleList([nn.Linear(a, b) for a, b in zip(widths, widths[1:])])
        self.none = nn.ModuleList([nn.Linear(64, 64) for _ in range(len(widths) - 3)])
        self.head = nn.Linear(32, 2)
        self.last = nn.Linear(16, 2)

    def forward(self, x, y):
        for layer in self.layers:
            x = layer(x)
        for number, layer in enumerate(self.skips):
            y = layer(y) if number < 2 else layer(torch.cat([y, y], dim=-1))
        for layer in self.widening:
            x = layer(x[..., :8])
        outputs = [layer(x) for layer in self.widening]
        return self.head(x), self.last(y), outputs

    def score(self, x):
        return self.head(self.layers[-1](self.layers[1](self.layers[0](x))))


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(80, 64), nn.Linear(64, 80)])
        self.ends = nn.ModuleList([nn.Linear(80, 16), nn.Linear(16, 16)])
        self.head = nn.Linear(80, 2)

    def forward(self, x, early):
        for _ in range(3):
            for layer in self.layers:
                x = layer(x)
        for _ in range(2):
            x = x + 1
        y = x
        for number, layer in enumerate(self.ends):
            y = layer(y)
        for layer in self.layers:
            if early:
                break
            x = layer(x)
        return self.head(x), y
