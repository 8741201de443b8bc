from torch import nn


class Named:
    def __init__(self, name):
        super().__init__()
        self.name = name


class Encoder(Named, nn.Module):
    def __init__(self, name, width):
        super().__init__(name)
        self.lin = nn.Linear(width, width)  # expect: ML207

    def forward(self, x):
        return self.lin(x)


class Base(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width


class Decoder(Base):
    def __init__(self, width):
        super().__init__(width)
        self.lin = nn.Linear(width, width)  # expect: ML207

    def forward(self, x):
        return self.lin(x)
