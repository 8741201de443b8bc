"""Calls: results of functions of this file and of others, and arguments from all callers."""

from functools import partial

import drawing
import torch
from drawing import best as chosen
from torch import nn

ROWS = 12


def given(x, n=3):  # reveal: n → argument n or 3 or 5
    y = x  # reveal: y → argument x or 7 or tensor, sizes [2]
    return n  # reveal: n → argument n or 3 or 5


def calls():
    a = given(7)  # reveal: a → 3
    a = given(torch.zeros(2), n=5)  # reveal: a → 5
    return a


def several(x):
    return x, 3


def recursive(n):
    return [recursive(n - 1), nn.Linear(n, n)]


def generated(n):
    yield nn.Linear(n, n)
    yield from (nn.GELU(),)


def used(n, head):
    a, b = several(n)  # reveal: a → argument n; b → 3
    a = drawing.zeros(n)  # reveal: a → tensor, sizes [n, 4]
    a = drawing.zeros(ROWS, width=2)  # reveal: a → tensor, sizes [12, 2]
    a = chosen(nn.Linear(4, 20)(n))  # reveal: a → ids below 20
    a = partial(drawing.zeros, 3)  # reveal: a → function zeros, with arguments
    a = a(2)  # reveal: a → tensor, sizes [3, 2]
    a = [*generated(n)]  # reveal: a → list, holding layer torch.nn.Linear, holding layer torch.nn.GELU
    a = recursive(n)  # reveal: a → list of 2

    def inner(k, kind=nn.Linear):
        return kind(k, k)  # reveal: k → argument n; kind → class torch.nn.Linear

    a = inner(n)  # reveal: a → layer torch.nn.Linear
    return a, b


MADE = drawing.zeros(ROWS)  # reveal: MADE → tensor, sizes [12, 4]
