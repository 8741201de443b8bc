import torch
from torch import nn


def none(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        for weight in model.parameters():
            weight.grad = None
        model(inputs).mean().backward()
        optimizer.step()


def zero(loader):
    weight = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.Adam([weight])
    for inputs in loader:
        (inputs * weight).mean().backward()
        optimizer.step()
        weight.grad.zero_()


def deleted(loader):
    weight = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.Adam([weight])
    for inputs in loader:
        (inputs * weight).mean().backward()
        optimizer.step()
        del weight.grad
