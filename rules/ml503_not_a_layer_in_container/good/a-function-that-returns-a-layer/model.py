from torch import nn


def relu():
    return nn.ReLU()


def as_layer(function):
    return function()


@as_layer
def act():
    return nn.Tanh()


net = nn.Sequential(nn.Linear(3, 3), relu(), act)
