import torch
from torch import nn


def train(model: nn.Module, optimizer, loader):
    total = 0.0
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            total += loss
    return total


@torch.no_grad()
def measure(model: nn.Module, loader):
    total, losses = 0.0, []
    for inputs in loader:
        loss = model(inputs).mean()
        total += loss
        losses.append(loss)
    return total, losses
