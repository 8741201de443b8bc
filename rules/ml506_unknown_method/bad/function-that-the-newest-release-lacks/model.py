import torch


def aligned(one, other):
    return torch.align_tensors(one, other)  # expect: ML506
