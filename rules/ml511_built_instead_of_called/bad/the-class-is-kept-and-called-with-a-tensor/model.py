from torch import nn


class Net(nn.Module):
    def __init__(self, smooth: bool = False):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.act = nn.GELU
        self.second = nn.Linear(8, 2)

    def forward(self, x):  # (batch, 4)
        return self.second(self.act(self.first(x)))  # expect: ML511
