import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])  # expect: ML516

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
            x = layer(x)
        return x
