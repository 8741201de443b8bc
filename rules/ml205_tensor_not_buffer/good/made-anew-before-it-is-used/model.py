import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.state = torch.zeros(width)
        self.mask = torch.ones(width)

    def reset(self, x):
        self.state = x.new_zeros(self.width)

    def forward(self, x):
        self.reset(x)
        return x + self.state * self.mask


def prepare(model: Cache, mask):
    model.mask = mask
    return model
