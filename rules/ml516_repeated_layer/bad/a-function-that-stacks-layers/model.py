from torch import nn


def stacked(width: int = 4, depth: int = 3):
    layer = nn.Linear(width, width)
    layers = []
    for _ in range(depth):
        layers.append(layer)  # expect: ML516
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)
