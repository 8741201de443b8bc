from torch import nn


class Stack(nn.ModuleList):
    def forward(self, x):
        for layer in self:
            x = layer(x)
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = Stack([nn.Linear(4, 4)])

    def forward(self, x):
        return self.layers(x)
