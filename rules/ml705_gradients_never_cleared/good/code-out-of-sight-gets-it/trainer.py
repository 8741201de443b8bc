import torch
from torch import nn


class Trainer:
    def __init__(self, model: nn.Module, hooks):
        self.model = model
        self.hooks = hooks
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, loader):
        for inputs in loader:
            self.model(inputs).mean().backward()
            self.optimizer.step()
            for hook in self.hooks:
                hook(self)


def fit(model: nn.Module, loader, finish):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
        finish(optimizer)


def follow(model: nn.Module, loader, finish):
    optimizer = torch.optim.Adam(model.parameters())
    forget = optimizer.zero_grad
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
        finish(forget)
