import torch


def cleared(x):
    x.zero_()


def run(x: torch.Tensor):
    try:
        return cleared(x).shape
    except AttributeError:
        return x.shape
