import torch
from torch import nn


def train(left: nn.Module, right: nn.Module, loader):
    first, second = torch.optim.Adam(left.parameters()), torch.optim.Adam(right.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(first, 10)
    for inputs in loader:
        first.zero_grad()
        second.zero_grad()
        (left(inputs) - right(inputs)).square().mean().backward()
        first.step()
        scheduler.step()
        second.step()
