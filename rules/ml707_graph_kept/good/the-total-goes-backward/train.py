import torch
from torch import nn


def train(model: nn.Module, optimizer, loader):
    total = 0.0
    for inputs in loader:
        loss = model(inputs).mean()
        total += loss
    optimizer.zero_grad()
    total.backward()
    optimizer.step()


def twice(model: nn.Module, optimizer, loader):
    total, losses = 0.0, []
    for inputs in loader:
        loss = model(inputs).mean()
        loss.backward(retain_graph=True)
        total += loss
        losses.append(loss)
    (total / len(loader)).backward(retain_graph=True)
    torch.stack(losses).max().backward()
    optimizer.step()
