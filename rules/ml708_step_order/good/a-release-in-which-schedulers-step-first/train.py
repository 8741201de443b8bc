import torch
from torch import nn


def train(model: nn.Module, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    for _ in range(epochs):
        scheduler.step()
        for inputs in loader:
            optimizer.zero_grad()
            model(inputs).mean().backward()
            optimizer.step()
