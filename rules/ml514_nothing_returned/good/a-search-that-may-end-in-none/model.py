from torch import nn


def largest(layers):
    for layer in layers:
        if isinstance(layer, nn.Linear):
            return layer
    print("there is none")


def run(net):
    return largest(net.children()).weight
