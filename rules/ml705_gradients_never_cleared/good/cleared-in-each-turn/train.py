import torch
from torch import nn


def first(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        optimizer.zero_grad(set_to_none=True)
        model(inputs).mean().backward()
        optimizer.step()


def last(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
        model.zero_grad()


def forget(optimizer):
    optimizer.zero_grad()


def by_helper(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
        forget(optimizer)
