import torch
from torch import nn
from torch.nn import functional as F


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.classes = nn.Linear(16, 4)
        self.weights = nn.Linear(16, 3)

    def forward(self, x):
        x = self.body(x)
        scores = self.classes(x)
        if not self.training:
            scores = scores.softmax(1)
        return scores, F.softmax(self.weights(x), dim=1)


def loss(heads: Heads, x, y):
    scores, weights = heads(x)
    return F.cross_entropy(scores, y) + weights.pow(2).mean()
