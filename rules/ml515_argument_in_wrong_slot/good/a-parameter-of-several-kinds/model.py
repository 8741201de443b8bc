import torch
from torch import nn


class Triples:
    def __init__(self, mapped):
        self.mapped = mapped


def mapped_triples_of(x=None, *, mapped=None, factory=None):
    if mapped is not None:
        return mapped
    if isinstance(x, torch.Tensor):
        return x.long()
    if isinstance(x, Triples):
        return x.mapped
    return factory.mapped


class Scorer(nn.Module):
    def __init__(self, count, width, factory):
        super().__init__()
        self.entities = nn.Embedding(count, width)
        self.factory = factory

    def forward(self, mapped):
        heads, _, tails = mapped_triples_of(mapped, factory=self.factory).unbind(-1)
        return (self.entities(heads) * self.entities(tails)).sum(-1)
