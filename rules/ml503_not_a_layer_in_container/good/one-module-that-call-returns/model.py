from torch import nn


def build(kind, layers):
    return nn.Sequential(nn.Sequential(make(kind)), nn.Sequential(layers))


def make(kind):
    return kind(3)
