"""Layers that stand for any layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Passing(nn.Identity):
    """Stands for any layer: gives what it is given, and holds a parameter, as layers do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def _get_name(self) -> str:
        return "Identity"


class AnyLayer(Passing):
    """Stands for any class of layers, of which nothing is known but that they can be made."""

    expansion = 1

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


def layers_in_a(kind: str) -> Any:
    """Small layers, in a kind of container."""
    layers = {"a": nn.Linear(1, 1), "b": nn.Linear(1, 1)}
    return layers if kind == "dict" else (tuple if kind == "tuple" else list)(layers.values())
