import torch
from torch import nn


class Translator(nn.Module):
    def __init__(self, width, words, pad=0):
        super().__init__()
        self.head = nn.Linear(width, words)
        self.criterion = nn.CrossEntropyLoss(ignore_index=0)

    def forward(self, hidden, targets, mask):
        targets = targets.masked_fill(~mask, -100)  # expect: ML106
        return self.criterion(self.head(hidden).flatten(0, 1), targets.flatten())
