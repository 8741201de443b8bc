from torch import nn

from encoder import Encoder


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = Encoder(width)
        self.decoders = nn.ModuleList([Encoder(width) for _ in range(2)])

    def forward(self, x, mask):
        return self.encoder(x, mask=mask)  # expect: ML502

    def decode(self, x, mask):
        for decoder in self.decoders:
            x = decoder(x, mask, x)  # expect: ML502
        return x


class Deep(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = Encoder(width, n_depth=4)  # expect: ML502
