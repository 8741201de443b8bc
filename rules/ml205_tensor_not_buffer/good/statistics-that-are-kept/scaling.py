import torch

from numbers_of_data import Net


def fit(loader, width):
    net = Net(width)
    targets = torch.cat([target.clone() for _, target in loader])
    net.scaled.mean = targets.mean().item()
    net.scaled.std = float(torch.std(targets))
    return net
