"""Where tensors are while a layer works that was moved to a device, unlike what is on the default one."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, n, given):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.register_buffer("steps", torch.zeros(n))
        self.left = torch.ones(n)  # reveal: self.left → tensor, sizes [n], on the default device
        self.scaled = self.weight * 2
        self.given = given

    def forward(self, x):
        a = x  # reveal: a → argument x, on the layer's device
        a = x * 2  # reveal: a → 2 * x, on the layer's device
        a = self.weight  # reveal: a → parameter, sizes [n], on the layer's device
        a = self.steps  # reveal: a → buffer, sizes [n], on the layer's device
        a = self.left  # reveal: a → tensor, sizes [n], on the default device
        a = self.scaled  # reveal: a → made of a parameter by `*`, on the default device
        a = torch.zeros(3)  # reveal: a → tensor, sizes [3], on the default device
        a = torch.zeros(3, device=x.device)  # reveal: a → tensor, sizes [3], on the layer's device
        a = torch.zeros_like(x)  # reveal: a → tensor, on the layer's device
        a = x.new_zeros(3)  # reveal: a → tensor, on the layer's device
        a = x.device  # reveal: a → the layer's device
        a = self.left.device  # reveal: a → the default device
        a = torch.device("cpu")  # reveal: a → device cpu
        a = self.helped(x)  # reveal: a → tensor, sizes [2], on the default device
        a = nn.functional.relu(self.weight * x)  # reveal: a → real numbers, on the layer's device
        if self.training:
            a = x
        else:
            a = torch.ones(2)
        return a  # reveal: a → argument x, on either device or tensor, on either device

    def helped(self, x):
        return torch.ones(2)  # reveal: torch.ones(2) → tensor, on the default device


def outside(x):
    a = torch.zeros(3)  # reveal: a → tensor, sizes [3]
    return a.to(x.device)  # reveal: x.device → plain value
