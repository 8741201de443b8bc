import torch
from torch import nn


def train(model: nn.Module, loader, every):
    optimizer = torch.optim.Adam(model.parameters())
    for number, inputs in enumerate(loader):
        model(inputs).mean().backward()
        optimizer.zero_grad()  # expect: ML708
        if number % every == 0:
            optimizer.step()
