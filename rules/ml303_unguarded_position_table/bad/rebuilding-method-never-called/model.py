import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        angles = torch.outer(torch.arange(2048).float(), 10000.0 ** -(torch.arange(0, dim, 2) / dim))
        self.cosines = angles.cos()  # expect: ML303

    def grow(self, length):
        self.cosines = torch.arange(length).float()[:, None].cos()

    def forward(self, x):
        return x * self.cosines[: x.shape[1]]
