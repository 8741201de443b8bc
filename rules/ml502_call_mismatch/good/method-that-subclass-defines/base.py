from torch import nn


class Base(nn.Module):
    def encode(self, x):
        raise NotImplementedError

    def embed(self, x):
        return x

    def forward(self, x, mask):
        return self.encode(x, mask) + self.embed(x, mask)
