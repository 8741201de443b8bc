from torch import nn


def build(width):
    layers = [nn.Linear, nn.ReLU]
    layers[0] = nn.Linear(width, width)
    layers[1] = nn.ReLU()
    return nn.Sequential(*layers)


def built(kinds):
    made = [kind() for kind in (nn.ReLU, nn.Tanh)]
    return nn.ModuleList([kind for kind in [*made, *kinds] if isinstance(kind, nn.Module)])
