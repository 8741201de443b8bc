from torch import nn


class Decoder(nn.Module):
    def forward(self, target, memory):
        return target, memory, target


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder()

    def forward(self, x):
        out, weights = self.decoder(x, source=x)  # no parameter of `forward`, which ML502 says
        return out
