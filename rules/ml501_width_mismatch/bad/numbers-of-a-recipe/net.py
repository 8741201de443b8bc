import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, n_mels, width, hidden, classes):
        super().__init__()
        self.encoder = nn.Linear(n_mels, width)
        self.head = nn.Linear(hidden, classes)

    def forward(self, features):
        return self.head(torch.relu(self.encoder(features)))


class Projection(nn.Module):
    def __init__(self, width, size=32):
        super().__init__()
        self.out = nn.Linear(width, size)

    def forward(self, x):
        return torch.tanh(self.out(x))
