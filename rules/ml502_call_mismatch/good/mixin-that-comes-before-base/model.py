from torch import nn


class Encoding:
    def encode(self, x):
        return x

    def embed(self, x):
        return self.encode(x, None)


class Masking:
    def encode(self, x, mask):
        return x if mask is None else x * mask


class Model(Masking, Encoding, nn.Module):
    def forward(self, x):
        return self.embed(x)
