import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self, entities, width):
        super().__init__()
        self.entities = nn.Embedding(entities, width)
        self.shift = torch.empty(width, requires_grad=True)  # expect: ML207
        self.bias = torch.zeros(1, requires_grad=True)  # expect: ML207
        nn.init.uniform_(self.shift)

    def score_triples(self, batch):
        heads = self.entities(batch[:, 0])
        tails = self.entities(batch[:, 1])
        return ((heads + self.shift[None, :]) * tails).sum(-1) + self.bias
