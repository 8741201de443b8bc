from functools import wraps

from torch import nn


def singleton(key):
    def inner(function):
        @wraps(function)
        def wrapper(self, *args):
            instance = getattr(self, key)
            if instance is None:
                instance = function(self, *args)
                setattr(self, key, instance)
            return instance

        return wrapper

    return inner


class Wrapper(nn.Module):
    def __init__(self, net, width):
        super().__init__()
        self.net = net
        self.width = width
        self.projector = None

    @singleton("projector")
    def make_projector(self, hidden):
        return nn.Linear(hidden.shape[-1], self.width).to(hidden)

    def forward(self, x):
        hidden = self.net(x)
        projector = self.make_projector(hidden)
        return projector(hidden)
