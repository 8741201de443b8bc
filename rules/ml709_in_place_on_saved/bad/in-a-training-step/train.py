import torch
from torch import nn


def step(batch, target):
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    out = model(batch).sigmoid()
    out.clamp_(0.01, 0.99)  # expect: ML709
    loss = nn.functional.mse_loss(out, target)
    loss.backward()
    return loss.item()


def train():
    weight = torch.nn.Parameter(torch.zeros(3))
    for _ in range(10):
        loss = (weight.exp() * 2).sum()
        loss.backward()
        weight.sub_(0.1)  # expect: ML709
