from torch import nn


def mlp(width):
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))  # expect: ML503
