import torch
from torch import nn


class Softmax(nn.Module):
    """Attends with softmax.

    `gate` exists only so that a checkpoint of the gated variant loads, and is not read.
    """

    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.gate = nn.Linear(width, 1)
        self.place = nn.Parameter(torch.empty(0))

    def forward(self, x):
        return self.proj(x).softmax(dim=-1)
