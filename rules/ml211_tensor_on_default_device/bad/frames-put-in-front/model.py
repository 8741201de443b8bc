import torch
from torch import nn


class Causal(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 3)

    def padding(self, batch, width):
        return torch.zeros(batch, width, 2)  # expect: ML211

    def forward(self, x):
        batch, width, _ = x.shape
        return self.conv(torch.cat([self.padding(batch, width), x], dim=-1))
