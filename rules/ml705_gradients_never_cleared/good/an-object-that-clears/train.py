import torch
from lab import Watcher
from torch import nn


class Keeper:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def finish(self):
        self.optimizer.zero_grad()


class Guard(Watcher):
    pass


def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    keeper = Keeper(optimizer)
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
        keeper.finish()


def watch(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    guard = Guard(optimizer)
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
        guard.finish()


def follow(model: nn.Module, loader, context):
    optimizer = torch.optim.Adam(model.parameters())
    watcher = Watcher(optimizer)
    for inputs in loader:
        model(inputs).mean().backward()
        optimizer.step()
        watcher.finish()


def within(model: nn.Module, loader, turn):
    optimizer = torch.optim.Adam(model.parameters())
    for inputs in loader:
        with turn:
            model(inputs).mean().backward()
            optimizer.step()
