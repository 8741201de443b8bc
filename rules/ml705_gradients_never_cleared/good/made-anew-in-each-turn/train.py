import torch
from torch import nn


def folds(loaders):
    for loader in loaders:
        net = nn.Linear(3, 1)
        solver = torch.optim.SGD(net.parameters(), lr=0.1)
        net(next(iter(loader))).mean().backward()
        solver.step()


def attack(images, net: nn.Module):
    change = torch.zeros(3, requires_grad=True)
    solver = torch.optim.SGD([change], lr=0.1)
    net(images + change).mean().backward()
    solver.step()
    return change.detach()


def attacks(batches, net: nn.Module):
    return [attack(images, net) for images in batches]
