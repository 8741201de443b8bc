from torch import nn


class Hyper(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = nn.Linear(4, 4)

    def forward(self, x, bias):
        pool = nn.AvgPool1d(x.size(-1))
        pool.to(x.device)
        return pool(self.width(x)) + bias
