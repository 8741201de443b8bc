import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.start = torch.zeros(rows, width)
        self.register_buffer("start", self.start)  # expect: ML517

    def forward(self, x: torch.Tensor):
        return x + self.start.sum()
