from torch import nn


class Encoder(nn.Module):
    def forward(self, x, mask):
        return x * mask


class Model(nn.Module):
    def __init__(self, encodes):
        super().__init__()
        self.encoder = None
        if encodes:
            self.encoder = Encoder()

    def forward(self, x):
        if self.encoder is not None:
            x = self.encoder(x)  # expect: ML502
        return x
