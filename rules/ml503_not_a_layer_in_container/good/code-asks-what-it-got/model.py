from torch import nn


def block(width, act):
    if isinstance(act, type):
        act = act()
    layers = [nn.Linear(width, width)]
    if isinstance(act, nn.Module):
        layers.append(act)
    return nn.Sequential(*layers)


first = block(3, nn.ReLU)
second = block(3, nn.ReLU())
