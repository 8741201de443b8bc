import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width=4):  # expect: ML513
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, width)

    def forward(self, x: torch.Tensor):
        return x + self.fc(self.norm(x))
