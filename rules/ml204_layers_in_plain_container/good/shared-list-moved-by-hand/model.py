from torch import nn


class Filters(nn.Module):
    def __init__(self, filters=None):
        super().__init__()
        self.filters = [nn.Linear(4, 4), nn.Linear(8, 8)] if filters is None else filters
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        for one in self.filters:
            x = one.to(x.device)(x)
        return self.proj(x)
