import sys

import torch
from torch import nn

def fail(message):
    print(message)
    sys.exit(1)


def chosen(name):
    layer = nn.ReLU() if name == "relu" else fail(name)
    return layer(torch.rand(2)), fail(name).shape
