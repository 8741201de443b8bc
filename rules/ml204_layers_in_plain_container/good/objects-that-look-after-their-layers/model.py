import copy
from functools import partial

import torch
from torch import nn


class Scores:
    def __init__(self, query, key):
        self.query = query
        self.key = key

    def __call__(self, x):
        return self.query(x) @ self.key(x).transpose(-1, -2)


class Average:
    def __init__(self, model):
        self.model = copy.deepcopy(model)

    def update(self, model):
        for mine, new in zip(self.model.parameters(), model.parameters()):
            mine.data.lerp_(new.data, 0.01)


class Trained:
    def __init__(self, width):
        self.net = nn.Linear(width, width)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def __call__(self, x):
        return self.net(x)


class Helper:
    def __init__(self, owner):
        self.owner = owner

    def __call__(self, x):
        return self.owner.query(x)


def through(layer, x):
    return layer(x).relu()


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.scores = Scores(self.query, self.key)
        self.average = Average(self.query)
        self.trained = Trained(width)
        self.helper = Helper(self)
        self.step = partial(through, self.query)

    def forward(self, x):
        return self.step(self.helper(self.trained(self.scores(x) @ x)))
