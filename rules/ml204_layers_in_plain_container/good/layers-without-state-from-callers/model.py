from typing import Sequence

import torch
from torch import nn


class GaussianKernel(nn.Module):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.alpha = alpha

    def forward(self, x):
        return torch.exp(-x / self.alpha)


class Discrepancy(nn.Module):
    def __init__(self, kernels: Sequence[nn.Module]):
        super().__init__()
        self.kernels = kernels

    def forward(self, x):
        return sum(kernel(x) for kernel in self.kernels)


def loss(alphas):
    return Discrepancy(kernels=[GaussianKernel(alpha=k) for k in alphas])
