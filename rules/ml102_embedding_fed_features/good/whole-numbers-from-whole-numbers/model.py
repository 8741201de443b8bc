import torch
from torch import nn


class Blocks(nn.Module):
    def __init__(self, n_blocks, width, size):
        super().__init__()
        self.size = size
        self.embed = nn.Embedding(n_blocks, width)

    def forward(self, x):
        positions = torch.arange(x.size(1), device=x.device)
        return x + self.embed(positions // self.size) + self.embed((positions / self.size).floor().long())
