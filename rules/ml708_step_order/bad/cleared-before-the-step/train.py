import torch
from torch import nn


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.zero_grad()  # expect: ML708
        optimizer.step()
