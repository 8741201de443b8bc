from torch import nn


class Encoder(nn.Module):
    def __init__(self, width):
        super()
        self.proj = nn.Linear(width, width)  # expect: ML207

    def forward(self, x):
        return self.proj(x)


class Decoder(nn.LSTM):
    def __init__(self, width):
        super().__init__
        self.width = width
        self.proj = nn.Linear(width, width)  # expect: ML207

    def forward(self, x):
        return self.proj(super().forward(x)[0])


class Head(nn.Module):
    """A head."""

    def __init__(self, width):
        super(Head, self)
        self.proj = nn.Linear(width, width)  # expect: ML207

    def forward(self, x):
        return self.proj(x)
