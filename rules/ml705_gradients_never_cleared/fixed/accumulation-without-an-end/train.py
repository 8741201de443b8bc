import torch
from torch import nn


def train(model: nn.Module, loader, every):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number, (inputs, targets) in enumerate(loader):
        loss = nn.functional.mse_loss(model(inputs), targets) / every
        loss.backward()
        if (number + 1) % every == 0:
            optimizer.step()  # expect: ML705
            optimizer.zero_grad()
