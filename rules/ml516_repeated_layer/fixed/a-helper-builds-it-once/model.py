import torch
from torch import nn


def block(width):
    return nn.Sequential(nn.Linear(width, width), nn.GELU())


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.towers = nn.ModuleList([block(8) for _ in range(2)])  # expect: ML516

    def forward(self, left: torch.Tensor, right: torch.Tensor):
        return self.towers[0](left), self.towers[1](right)
