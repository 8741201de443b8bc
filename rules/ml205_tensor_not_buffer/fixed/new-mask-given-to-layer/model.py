import torch
from torch import nn


class MaskedLinear(nn.Linear):
    def __init__(self, width, mask, bias=True):
        super().__init__(width, width, bias)
        self.register_buffer("mask", mask, persistent=False)  # expect: ML205

    def forward(self, x):
        return nn.functional.linear(x, self.weight * self.mask, self.bias)


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        mask = torch.ones(width, width)
        mask[0] = 0
        self.layer = MaskedLinear(width, mask)

    def forward(self, x):
        return self.layer(x)
