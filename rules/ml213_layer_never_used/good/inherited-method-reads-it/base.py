from torch import nn


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return self.head(x)


class Model(Base):
    def __init__(self, width):
        super().__init__(width)
        self.head = nn.Linear(width, 2)
