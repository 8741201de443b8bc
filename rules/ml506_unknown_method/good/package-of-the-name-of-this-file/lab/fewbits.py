import fewbits as fb
from torch import nn


def shrink(layer):
    if isinstance(layer, nn.Linear):
        return fb.nn.Linear4bit(layer.weight)
    return layer
