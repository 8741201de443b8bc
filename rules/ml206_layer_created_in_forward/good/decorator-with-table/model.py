from functools import wraps

from torch import nn


def kept(function):
    @wraps(function)
    def wrapper(self, *args, **kwargs):
        table = self.layers
        if args[0] not in table:
            table[function] = function(self, *args, **kwargs)
        return table[function]

    return wrapper


class Wrapper(nn.Module):
    def __init__(self, net, width):
        super().__init__()
        self.net = net
        self.width = width
        self.layers = {}

    @kept
    def make_projector(self, width):
        return nn.Linear(width, self.width)

    def forward(self, x):
        hidden = self.net(x)
        projector = self.make_projector(hidden.shape[-1])
        return projector(hidden)
