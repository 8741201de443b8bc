from torch import nn


def double(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3), nn.ReLU(), nn.Conv2d(outputs, outputs, 3), nn.ReLU())
