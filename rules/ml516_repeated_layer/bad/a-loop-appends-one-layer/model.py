import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        norm = nn.LayerNorm(width)
        self.norms = nn.ModuleList()
        for _ in range(depth):
            self.norms.append(norm)  # expect: ML516

    def forward(self, x: torch.Tensor):
        for norm in self.norms:
            x = x + norm(x)
        return x
