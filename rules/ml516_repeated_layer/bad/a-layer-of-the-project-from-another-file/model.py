import torch
from torch import nn

from parts import Block


class Encoder(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width)] * depth)  # expect: ML516

    def forward(self, x: torch.Tensor):
        for block in self.blocks:
            x = block(x)
        return x
