import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.size = width // heads
        self.value = nn.Linear(width, heads * self.size)  # expect: ML207
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(self.value(x))


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))  # expect: ML207

    def forward(self, x):
        return x * self.scale


class Norm(nn.Module):
    def __init__(self): ...  # expect: ML207
