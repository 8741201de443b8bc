from torch import nn


IS_SCALED = False


class Decoder(nn.Module):
    def forward(self, x):
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = Decoder()

    def forward(self, x):
        if IS_SCALED:
            x = x * self.decoder.alpha
        return self.decoder(x)
