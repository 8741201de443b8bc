import torch
from torch import nn

from base import Base


class Model(Base):
    def __init__(self, width):
        self.depth = 3
        self.embed = nn.Linear(width, width)  # expect: ML207
        self.scale = nn.Parameter(torch.ones(width))  # expect: ML207
        super().__init__(width)

    def forward(self, x):
        return self.embed(x) * self.scale
