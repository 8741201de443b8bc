import torch
from torch import nn


class Fourier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("frequencies", 2.0 ** torch.arange(width), persistent=False)  # expect: ML205
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self):
        return self.weight * self.frequencies
