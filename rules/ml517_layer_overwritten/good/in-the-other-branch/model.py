import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, width, is_kept):
        super().__init__()
        if is_kept:
            self.register_buffer("start", torch.zeros(width))
        else:
            self.start = torch.zeros(width)
        if width > 4:
            self.scale = None
        else:
            self.register_buffer("scale", torch.ones(width))

    def forward(self, x):
        return x + self.start
