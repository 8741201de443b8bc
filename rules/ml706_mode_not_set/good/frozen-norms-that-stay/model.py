import torch
from torch import nn


def norms(module):
    return [part for part in module.modules() if isinstance(part, nn.BatchNorm2d)]


class ByTrain(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.norm.eval()

    def train(self, mode=True):
        super().train(mode)
        for part in self.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.eval()
        return self

    def forward(self, x):
        return self.norm(x)


class ByForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.norm.eval()

    def forward(self, x):
        self.norm.eval()
        return self.norm(x)


class ByTrainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(3)
        self.freeze()

    def freeze(self):
        self.norm.eval()

    def forward(self, x):
        return self.norm(x)


def fit(loader):
    models = ByTrain(), ByForward(), ByTrainer()
    for model in models:
        model.train()
    models[2].freeze()
    for x in loader:
        sum(model(x).mean() for model in models).backward()
