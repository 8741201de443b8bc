import torch
import torch.nn.functional as F
from torch import nn


def pooled():
    x = torch.rand(1, 3, 8, 8)
    return F.max_pool2d(x, 2, 4, 3)  # expect: ML502


def shrink_sides(x):
    return F.max_pool2d(x, (3, 4), (5, 5), (2, 1))  # expect: ML502


def loss():
    return F.nll_loss(torch.rand(2, 3), torch.tensor([0, 1]), reduction="average")  # expect: ML502


def convolution():
    return nn.Conv2d(3, 8, 3, padding="sam")  # expect: ML502
