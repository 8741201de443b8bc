from torch import nn


class Base(nn.Module):
    def set_up(self):
        nn.Module.__init__(self)


class Encoder(Base):
    def __init__(self, width):
        super().set_up()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)


class Decoder(nn.Module):
    def __init__(self, width):
        base = super()
        base.__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)


class Head(nn.Module):
    def __init__(self, width):
        begin = super().__init__
        begin()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(x)
