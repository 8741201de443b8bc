import torch
from torch import nn


def measured(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        optimizer.zero_grad()
        model(inputs).mean().backward()
        optimizer.step()
        norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
        print(norm)


def two_networks(left: nn.Module, right: nn.Module, loader):
    first, second = torch.optim.Adam(left.parameters()), torch.optim.Adam(right.parameters())
    for inputs in loader:
        first.zero_grad()
        second.zero_grad()
        (left(inputs) - right(inputs)).square().mean().backward()
        nn.utils.clip_grad_norm_(left.parameters(), 1.0)
        first.step()
        nn.utils.clip_grad_norm_(right.parameters(), 1.0)
        second.step()
