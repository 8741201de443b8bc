import torch
import torch.nn.functional as F
from torch import nn, optim


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return torch.fft(x, 2) * self.scale  # expect: ML506


def smooth(x):
    return F(x)  # expect: ML506


def fit(model):
    return optim(model.parameters(), lr=0.1)  # expect: ML506
