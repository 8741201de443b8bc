from torch import nn


class Adapter(nn.Module):
    def __init__(self, rank=8):
        super().__init__()
        self.down, self.up = nn.Linear(256, 8, bias=False), nn.Linear(8, 256, bias=False)
        self.narrow, self.wide = nn.Linear(256, rank), nn.Linear(rank, 256)

    def forward(self, x):
        return x + self.up(self.down(x)) + self.wide(self.narrow(x))
