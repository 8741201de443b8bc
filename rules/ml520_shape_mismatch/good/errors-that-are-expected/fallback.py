import contextlib

import torch
from torch import nn


def accepts(layer: nn.Module) -> bool:
    x = torch.zeros(2, 7)
    try:
        nn.Conv2d(7, 7, 1)(x)
    except (RuntimeError, ValueError):
        return False
    return True


def added():
    left, right = torch.zeros(3), torch.zeros(4)
    with contextlib.suppress(RuntimeError):
        return left + right
    return left.sum() + right.sum()
