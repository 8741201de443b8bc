import torch
from torch import nn


def step():
    query = nn.Linear(8, 8)(torch.randn(1, 1, 8))
    keys = torch.randn(1, 1, 8)
    weights = torch.softmax(query @ keys.transpose(1, 2), dim=-1)
    return weights @ keys, torch.zeros(4, 1).argmax(dim=1)
