import torch
from torch import nn


class Sines(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.register_buffer("table", torch.arange(width).float().sin())
        self.scale = nn.Parameter(torch.ones(width), requires_grad=False)

    def forward(self, x):
        return x + self.table * self.scale


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return self.proj(Sines(x.size(-1))(x))
