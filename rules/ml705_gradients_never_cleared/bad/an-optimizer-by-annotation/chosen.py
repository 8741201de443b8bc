import torch
from torch import nn


def train(net: nn.Module, kind, loader):
    if kind == "adam":
        solver = torch.optim.Adam(net.parameters())
    else:
        solver = torch.optim.SGD(net.parameters(), lr=0.1)
    while True:
        batch = next(loader, None)
        if batch is None:
            break
        net(batch).mean().backward()
        solver.step()  # expect: ML705
