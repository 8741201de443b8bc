from torch import nn


class Net(nn.Module):
    def __init__(self, deep):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)])
        if not deep:
            self.layers = nn.Linear(4, 4)

    def forward(self, x):
        return self.layers(x)
