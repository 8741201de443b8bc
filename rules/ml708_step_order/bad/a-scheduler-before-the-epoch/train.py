import torch
from torch import nn
from torch.optim import lr_scheduler


def train(model: nn.Module, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = lr_scheduler.StepLR(optimizer, step_size=30)
    for _ in range(epochs):
        scheduler.step()  # expect: ML708
        for inputs, targets in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(inputs), targets).backward()
            optimizer.step()
