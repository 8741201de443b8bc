from torch import nn

from model import PositionalEncoding


class Encoder(nn.Module):
    def __init__(self, width, longest):
        super().__init__()
        self.positions = PositionalEncoding(width, longest)

    def forward(self, x):
        return self.positions(x)
