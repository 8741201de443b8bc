import torch
from torch import nn


def improve(model, optimizer, inputs):
    optimizer.zero_grad()
    loss = model(inputs).mean()
    loss.backward()
    optimizer.step()
    return loss


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    total = 0
    for inputs in loader:
        loss = improve(model, optimizer, inputs)
        total += loss  # expect: ML707
    return total
