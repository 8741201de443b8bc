import numpy as np
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def fit():
    table = np.random.randn(16, 4)
    rows = torch.from_numpy(table)
    return net(rows)  # expect: ML522


def predict():
    layer = nn.Linear(3, 3)
    row = np.array([0.5, 1.0, 1.5])
    return layer(torch.tensor(row))  # expect: ML522


def mix():
    weights = torch.rand(4, 2)
    return torch.as_tensor(np.ones((3, 4))) @ weights  # expect: ML522
