import torch
from torch import nn
from torch.optim import Optimizer


def train(model: nn.Module, optimizer: Optimizer, loader):
    for inputs in loader:
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()  # expect: ML705
