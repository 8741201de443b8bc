import torch
from torch import nn


class Weights(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.scores = nn.Linear(width, heads)

    def forward(self, x):
        weights = torch.softmax(self.scores(x), dim=-1)
        weights.masked_fill_(weights < 0.01, 0.0)  # expect: ML709
        return weights
