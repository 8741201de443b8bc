import torch

from buffers import Net


def fit(loader, width):
    net = Net(width)
    targets = torch.cat([target.clone() for _, target in loader])
    net.head.mean = targets.mean()
    net.head.std = torch.std(targets)
    return net
