import torch
from torch import nn


def best():
    return torch.argmax([1.0, 2.0, 3.0])  # expect: ML509


def half():
    return torch.sigmoid("0.5")  # expect: ML509


def optimizer(model: nn.Module):
    return torch.optim.Adam({"model": model}, lr=1e-3)  # expect: ML509
