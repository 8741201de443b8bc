import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, positions):
        super().__init__()
        self.register_buffer("positions", positions)

    def forward(self, x):
        table = torch.zeros(x.size(1), x.size(2))
        return x + table[: x.size(1)] + self.positions[: x.size(1)]
