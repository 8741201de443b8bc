import torch
from torch import nn


class Copies(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, ids):
        hidden = torch.relu(self.proj(x))
        copy = hidden.clone()
        copy[:, 0] = 0
        some = hidden[ids]
        some += 1
        return hidden, copy, some
