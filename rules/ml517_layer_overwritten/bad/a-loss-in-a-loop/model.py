import torch
from torch import nn


def train(steps: int = 3):
    model, loss = nn.Linear(4, 4), nn.MSELoss()
    for _ in range(steps):
        x = torch.rand(2, 4)
        loss = loss(model(x), x)  # expect: ML517
        print(loss.item())
