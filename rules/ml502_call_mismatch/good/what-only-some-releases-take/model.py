import torch


RELEASE = tuple(int(part) for part in torch.__version__.split(".")[:2])


def solve(a, b):
    if RELEASE < (1, 8):
        return torch.exp(a, b)
    try:
        return torch.cat([a, b], out_dtype=torch.float16)
    except TypeError:
        return torch.cat([a, b])


def grid(x, y):
    if torch.__version__ < "1.10":
        return torch.meshgrid(x, y, order="ij")
    return torch.meshgrid(x, y, indexing="ij")


def fused(model):
    if hasattr(torch, "fused_sgd"):
        return torch.optim.SGD(model.parameters(), lr=0.1, fast=True)
    return torch.optim.SGD(model.parameters(), lr=0.1)
