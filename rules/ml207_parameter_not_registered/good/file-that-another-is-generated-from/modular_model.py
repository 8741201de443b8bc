from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width


class Model(Base):
    def __init__(self, width):
        self.embed = nn.Linear(width, width)
        super().__init__(width)

    def forward(self, x):
        return self.embed(x)
