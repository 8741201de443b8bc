from torch import nn


class Model(nn.Module):
    def __init__(self, width, base=None):
        if base is None:
            super().__init__()
            self.embed = nn.Linear(width, width)
        else:
            nn.Module.__init__(self)
            self.embed = base

    def forward(self, x):
        return self.embed(x)
