"""Branches: what both leave, what one is known to leave, and what is never run."""

import torch
from torch import nn


def joined(x, flag, mode="a"):
    a = 1
    if flag:
        a = 2
    y = a  # reveal: y → 2 or 1
    b = None
    if flag is None:
        b = torch.zeros(2)  # reveal: b → tensor, sizes [2]
    return a, b  # reveal: a → 1 or 2; b → None or tensor, sizes [2]


def decided():
    flag = "a"
    if flag == "a":
        a = nn.Linear(1, 1)
    else:
        a = None  # reveal: a → never
    if False:
        a = 3  # reveal: a → never
    b = 1 if True else 2  # reveal: b → 1
    c = 3 > 2 and "yes"  # reveal: c → 'yes'
    return a  # reveal: a → layer torch.nn.Linear


def left(x, n):
    if n is None:
        return 0
    if not isinstance(x, torch.Tensor):
        raise ValueError(x)
    try:
        a = int("3")
    except ValueError:
        a = 0
    return a  # reveal: a → 3 or 0


def default(unknown=None):
    if unknown is None:
        unknown = torch.full((2,), 7)  # reveal: unknown → tensor, some 7
    return unknown  # reveal: unknown → tensor, some 7 or argument unknown


class Kept(nn.Module):
    def __init__(self, flag):
        super().__init__()
        self.x = None
        if flag:
            self.x = nn.ReLU()
        else:
            self.x = nn.GELU()

    def forward(self):
        return self.x  # reveal: self.x → layer torch.nn.GELU or layer torch.nn.ReLU or None
