from layers.utils import set_attributes
from torch import nn


class Net(nn.Module):
    def __init__(self, conv, norm=None):
        super().__init__()
        set_attributes(self, locals())

    def forward(self, x):
        x = self.conv(x)
        return x if self.norm is None else self.norm(x)
