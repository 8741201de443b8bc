from torch import nn


class Net(nn.Module):
    def __init__(self, width, norm=None):
        super().__init__()
        self.make = nn.BatchNorm1d if norm is None else norm
        self.layers = nn.ModuleList([self.make(width), nn.Linear(width, width)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
