"""Layers, classes and functions as values, and what attributes hold."""

import copy
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import nn


class Carrier(NamedTuple):
    layers: list


@dataclass
class Kept:
    layer: object = None


class Factory:
    def __init__(self, n):
        self.n = n

    def __call__(self):
        return nn.Linear(self.n, self.n)


class Base(nn.Module):
    kind = nn.Linear  # reveal: kind → class torch.nn.Linear
    sizes = (3, 4)  # reveal: sizes → tuple of 2, holding 3, holding 4

    def __init__(self, n):
        super().__init__()
        self.n = n
        self.build()

    def build(self):
        self.x = [nn.Linear(self.n, self.n)]

    @property
    def made(self):
        return nn.Linear(4, 4)

    @classmethod
    def of(cls, n):
        return nn.Conv1d(n, n, 1)

    @staticmethod
    def other(n):
        return nn.ReLU()


class Net(Base):
    def build(self):
        self.x = [nn.GELU()]

    def look(self):
        return self.x  # reveal: self.x → list of 1, holding layer torch.nn.GELU

    def forward(self, n, unknown):
        a = self  # reveal: a → layer Net
        a = nn.Linear(n, n)  # reveal: a → layer torch.nn.Linear
        a = self.kind(n, n)  # reveal: a → layer torch.nn.Linear
        a = self.made  # reveal: a → layer torch.nn.Linear
        a = self.of(n)  # reveal: a → layer torch.nn.Conv1d
        a = self.other(n)  # reveal: a → layer torch.nn.ReLU
        a = Factory(n)  # reveal: a → object Factory
        a = Factory(n)()  # reveal: a → layer torch.nn.Linear
        a = Kept(nn.ReLU()).layer  # reveal: a → layer torch.nn.ReLU
        a = Carrier([nn.ReLU()]).layers  # reveal: a → list of 1, holding layer torch.nn.ReLU
        a = copy.deepcopy(nn.Linear(n, n))  # reveal: a → layer torch.nn.Linear
        a = partial(nn.Linear, n)  # reveal: a → class torch.nn.Linear, with arguments
        a = a(n)  # reveal: a → layer torch.nn.Linear
        a = nn.Linear if n else nn.Conv1d  # reveal: a → class torch.nn.Linear or class torch.nn.Conv1d
        a = getattr(nn, "GELU")()  # reveal: a → layer torch.nn.GELU
        a = (lambda k: nn.Linear(k, k))(n)  # reveal: a → layer torch.nn.Linear; k → argument n
        a = lambda k: k  # reveal: a → inner function
        a = Net  # reveal: a → class Net
        a = self.look  # reveal: a → method Net.look
        a = torch.float32  # reveal: a → torch.float32
        a = nn.Parameter(torch.ones(3))  # reveal: a → parameter, sizes [3]
        a = n.width  # reveal: a → argument n.width
        a = unknown(n)  # reveal: a → unknown
        a = unknown(self)  # reveal: a → unknown
        setattr(self, "set", nn.Linear(n, n))
        self.add_module("added", nn.ReLU())
        self._modules["kept"] = nn.GELU()
        a = self.set  # reveal: a → layer torch.nn.Linear
        a = self.added  # reveal: a → layer torch.nn.ReLU
        a = self.kept  # reveal: a → layer torch.nn.GELU
        return a
