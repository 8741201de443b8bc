import torch
from torch import nn


class Table(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, ids):
        return nn.functional.embedding(ids, self.weight)


class Decoder(nn.Module):
    def __init__(self, settings, weights):
        super().__init__()
        self.embed = Table(weights["embed"])
        self.embed.weight *= settings.width**0.5
        self.head = nn.Linear(settings.width, settings.vocab_size)

    def forward(self, ids):
        return torch.log_softmax(self.head(self.embed(ids)), dim=-1)
