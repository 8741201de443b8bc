import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        block = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        self.blocks = nn.Sequential(*[block for _ in range(depth)])  # expect: ML516

    def forward(self, x: torch.Tensor):
        return self.blocks(x)
