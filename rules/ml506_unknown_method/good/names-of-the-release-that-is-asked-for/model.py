import torch


def aligned(one, other):
    return torch.align_tensors(one, other)


def turned():
    x = torch.ones(2, 3)
    return x.align_to("time", "batch")
