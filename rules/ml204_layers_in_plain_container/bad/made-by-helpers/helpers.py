from torch import nn


def make_stages(widths):
    stages = []
    for a, b in zip(widths, widths[1:]):
        stages.append(nn.Sequential(nn.Conv2d(a, b, 3), nn.ReLU()))
    return stages
