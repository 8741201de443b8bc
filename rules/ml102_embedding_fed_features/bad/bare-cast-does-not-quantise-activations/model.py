import torch
from torch import nn


class Quantiser(nn.Module):
    def __init__(self, width, rows):
        super().__init__()
        self.conv = nn.Conv1d(width, 1, 3, padding=1)
        self.embed = nn.Embedding(rows, width)

    def forward(self, x):
        levels = torch.relu(self.conv(x)).squeeze(1)
        return self.embed(levels.long())  # expect: ML102
