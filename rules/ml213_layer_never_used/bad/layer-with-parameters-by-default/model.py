import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, width, affine=True):
        super().__init__()
        self.affine = affine
        if affine:
            self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x * self.gain if self.affine else x


class Block(nn.Module):
    def __init__(self, width, affine=True):
        super().__init__()
        self.norm = Norm(width, affine)  # expect: ML213
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x + self.proj(x)
