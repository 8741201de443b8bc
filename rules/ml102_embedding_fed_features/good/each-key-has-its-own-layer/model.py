from typing import NamedTuple

import torch
from torch import nn


class Given(NamedTuple):
    values: torch.Tensor
    mask: torch.Tensor


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 8)

    def tokens(self, texts):
        return torch.tensor([[len(text) % 100 for text in texts]]), torch.ones(1)

    def forward(self, given):
        ids, mask = given
        return self.table(ids), mask


class Wave(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(1, 8)

    def tokens(self, given):
        wave, mask = given
        return Given(wave.float(), mask)

    def forward(self, given):
        wave, mask = given
        return self.project(wave), mask


class Conditions(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.names = names
        self.parts = nn.ModuleDict({"words": Words(), "wave": Wave()})
        self.layers = nn.ModuleList([nn.Embedding(10, 8), nn.Linear(20, 8)])

    def tokens(self, texts, waves):
        found = {}
        for name, given in {**texts, **waves}.items():
            found[name] = self.parts[name].tokens(given)
        return found

    def forward(self, tokens):
        return {name: self.parts[name](given) for name, given in tokens.items()}

    def picked(self, tokens):
        return [self.parts[name](tokens[name]) for name in self.names]

    def one(self, name, given):
        return self.layers[name](given.float())

    def listed(self, ids):
        return [layer(given) for layer, given in zip(self.layers, [ids, torch.rand(3, 20)])]


def run(names):
    model = Conditions(names)
    tokens = model.tokens({"words": ["rock"]}, {"wave": (torch.rand(1, 50, 1), torch.ones(1))})
    return model(tokens), model.picked(tokens)
