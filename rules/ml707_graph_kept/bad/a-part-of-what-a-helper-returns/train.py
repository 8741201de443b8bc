import torch
from torch import nn


def improve(model, optimizer, inputs, targets):
    optimizer.zero_grad()
    output = model(inputs)
    loss = (output - targets).square().mean()
    loss.backward()
    optimizer.step()
    return loss, len(inputs)


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    total, count = 0, 0
    for inputs, targets in loader:
        loss, number = improve(model, optimizer, inputs, targets)
        total += loss * number  # expect: ML707
        count += number
    return total / count
