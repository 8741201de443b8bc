from torch import nn


def composed(depth):
    layer = nn.Identity()
    for _ in range(depth):
        layer = nn.Sequential(layer, nn.ReLU())
    return layer


def curried(values, function):
    for value in values:
        function = function(value)
    return function
