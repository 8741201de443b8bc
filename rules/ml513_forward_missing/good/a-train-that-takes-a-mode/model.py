import torch
from torch import nn


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.BatchNorm1d(4)

    def train(self, mode=True, *, deep=False):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        return self.body(x)


class Trainer:
    def __init__(self):
        self.model = Frozen()

    def train(self, loader, steps):
        self.model.train()

    def eval(self, x: torch.Tensor):
        self.model.eval()
        return self.model(x)
