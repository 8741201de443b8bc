from parts import Decoder, Encoder
from torch import nn


class Codec(nn.Module):
    def __init__(self, width=128, widths=(2, 4)):
        super().__init__()
        self.encoder = Encoder(widths)
        self.decoder = Decoder(2 * width, 1)

    def forward(self, x):
        return self.decoder(self.encoder(x))  # expect: ML501
