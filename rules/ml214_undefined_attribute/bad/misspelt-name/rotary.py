import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width, base):
        super().__init__()
        wavelengths = base ** (torch.arange(0, width, 2) / width)
        self.register_buffer("wavelengths", wavelengths)

    def forward(self, x):
        return torch.outer(x, 1 / self.wavelength)  # expect: ML214


class Stack(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(self.layers))  # expect: ML214

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x
