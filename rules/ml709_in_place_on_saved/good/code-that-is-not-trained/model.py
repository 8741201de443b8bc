import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(x)

    def best(self, x, used):
        scores = torch.softmax(self.head(x), dim=-1)
        scores[:, used] = 0
        return scores.argmax(dim=-1)


def accuracy(model, x, target):
    layer = nn.Linear(8, 8)
    scores = torch.sigmoid(layer(x))
    scores.sub_(0.5)
    return (scores.sign() == target).float().mean()
