from torch import nn

from interface import Interface


class Model(Interface, nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.proj = nn.Linear(inputs, outputs)
