from torch import nn


def convolution(channels, kernel_size=None, ks=None):
    return nn.Conv1d(channels, channels, kernel_size or ks)


def other(channels, width=None, span=None):
    width = span if width is None else width
    return nn.Conv1d(channels, channels, width)


def build(channels: int, ks: int = 3, span: int = 5) -> nn.Sequential:
    return nn.Sequential(convolution(channels, ks), other(channels, span))
