import functools

from torch import nn


class Base(nn.Module):
    def set_up(self):
        nn.Module.__init__(self)


class Late(Base):
    def __init__(self, width):
        self.set_up()
        self.proj = nn.Linear(width, width)


class Handed(nn.Module):
    def __init__(self, width):
        initialise(self)
        self.proj = nn.Linear(width, width)


class Never(nn.Module):
    def __init__(self):
        raise NotImplementedError("use `Never.load`")


class Plain:
    def __init__(self, width):
        self.proj = nn.Linear(width, width)


def wrapped(function):
    @functools.wraps(function)
    def init(self, *args):
        nn.Module.__init__(self)
        function(self, *args)

    return init


class Decorated(nn.Module):
    @wrapped
    def __init__(self, width):
        self.proj = nn.Linear(width, width)


def initialise(layer):
    nn.Module.__init__(layer)
