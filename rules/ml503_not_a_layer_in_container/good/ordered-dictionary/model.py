from collections import OrderedDict

from torch import nn


def build(width):
    blocks = OrderedDict()
    blocks["proj"] = nn.Linear(width, width)
    layers = OrderedDict([("act", nn.ReLU()), ("norm", nn.LayerNorm(width))])
    return nn.Sequential(nn.Sequential(blocks), nn.Sequential(layers))
