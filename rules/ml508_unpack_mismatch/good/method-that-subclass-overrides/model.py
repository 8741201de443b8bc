from torch import nn


class Base(nn.Module):
    def encode(self, x):
        return x, x

    def decode(self, x):
        raise NotImplementedError

    def forward(self, x):
        hidden, mask, length = self.encode(x)
        a, b = self.decode(hidden)
        return a


class Longer(Base):
    def encode(self, x):
        return x, x, len(x)
