from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn


class Attention:
    def __init__(self, width):
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)

    def scores(self, x):
        return self.query(x) @ self.key(x).transpose(-1, -2)


@dataclass
class Parts:
    up: nn.Linear
    down: nn.Linear


class Pair(NamedTuple):
    left: nn.Linear
    right: nn.Linear


class Expert:
    def __init__(self, width):
        self.mix = nn.Linear(width, width)

    def __call__(self, x):
        return self.mix(x)


class Model(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.attention = Attention(width)  # expect: ML204
        self.parts = Parts(up=nn.Linear(width, 4 * width), down=nn.Linear(4 * width, width))  # expect: ML204
        self.pair = Pair(nn.Linear(width, width), nn.Linear(width, width))  # expect: ML204
        self.experts = [Expert(width) for _ in range(depth)]  # expect: ML204

    def forward(self, x):
        x = self.attention.scores(x) @ x
        x = self.parts.down(torch.relu(self.parts.up(x)))
        x = self.pair.left(x) * self.pair.right(x)
        return sum(expert(x) for expert in self.experts)
