import torch
from torch import nn


class Empty(nn.Module):
    pass


def is_complete(x: torch.Tensor):
    try:
        Empty()(x)
    except NotImplementedError:
        return False
    return True
