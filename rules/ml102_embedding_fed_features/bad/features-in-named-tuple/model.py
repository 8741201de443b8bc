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

    def forward(self, given):
        ids, mask = given
        return self.table(ids), mask


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.before = nn.Linear(20, 20)
        self.words = Words()

    def forward(self, x):
        return self.words(Given(self.before(x), torch.ones(1)))  # expect: ML102
