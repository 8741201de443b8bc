from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x):  # (batch, 4)
        x = nn.ReLU(self.first(x))  # expect: ML511
        return self.second(x)
