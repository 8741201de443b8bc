import torch
from torch import nn


def train(model: nn.Module, optimizer, loader):
    total, other, third, fourth, losses, parts = 0.0, 0.0, 0.0, 0.0, [], []
    for inputs in loader:
        optimizer.zero_grad()
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(inputs)
        other += loss.detach()
        third += float(loss)
        fourth += loss.data
        losses.append(loss.item())
        parts.append(loss.detach().cpu())
    return total, other, third, fourth, losses, parts
