import torch
from torch import nn


def schedule(model: nn.Module):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return torch.optim.lr_scheduler.StepLR(optimizer, 30, verbose=True)


def by_name():
    x = torch.ones(2, 3, names=("batch", "time"))
    return torch.cumsum(x, "time"), x.softmax("time")
