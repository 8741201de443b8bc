from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.pool = nn.AvgPool1d(2), nn.ReLU()

    def forward(self, x):  # (batch, 4)
        return self.pool(self.first(x))  # expect: ML512
