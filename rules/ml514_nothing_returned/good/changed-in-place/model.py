import torch
from torch import nn


def initialised(layer):
    nn.init.zeros_(layer.weight)


def built():
    layer = nn.Linear(2, 2)
    initialised(layer)
    weight = layer.weight
    return weight + 1


class Batch:
    def __init__(self):
        self.parts = []

    def cat_(self, parts):
        self.parts += [part.clone() for part in parts]

    @staticmethod
    def cat(parts):
        batch = Batch()
        batch.cat_(parts)
        return batch


def joined(x: torch.Tensor):
    return Batch.cat([x, x]).parts
