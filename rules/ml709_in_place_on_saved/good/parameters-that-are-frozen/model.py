import torch
from torch import nn


class Frozen(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)
        for parameter in self.parameters():
            parameter.requires_grad = False

    def forward(self, x):
        scores = torch.sigmoid(self.proj(x))
        scores *= 2
        return scores


def fused(conv):
    made = nn.Linear(4, 4).requires_grad_(False)
    made.weight.copy_(conv.weight)
    return made
