import torch
from torch import nn


class Packed(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.embed = nn.Embedding(longest, width)

    def forward(self, x, lengths):
        positions = torch.full(x.shape[:2], 0)  # expect: ML304
        for row, length in enumerate(lengths):
            positions[row, :length] = torch.arange(length)
        return x + self.embed(positions)
