"""Layers that stand for any layer."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .standins import StandIn


class Passing(nn.Identity):
    """A stand-in for any layer: returns its input, and holds a parameter, as layers do."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def _get_name(self) -> str:
        return "Identity"


class AnyLayer(Passing):
    """A stand-in for any class of layers: its constructor takes any arguments."""

    expansion = 1

    def __init__(self, *_: Any, **__: Any) -> None:
        super().__init__()


class StandInLayer(nn.Module):
    """A stand-in for a layer of a library that could not be imported: a module like any other, until it is called."""

    def __init__(self, stand_in: StandIn) -> None:
        super().__init__()
        self.stand_in = stand_in

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.stand_in(*args, **kwargs)


def take_stand_ins_for_layers() -> None:
    """Let modules, and containers of them, accept stand-ins as layers."""
    original: Any = nn.Module.add_module

    def add_module(self: nn.Module, name: str, module: Any) -> None:
        original(self, name, StandInLayer(module) if isinstance(module, StandIn) else module)

    added: Any = nn.Module
    added.add_module = add_module


def layers_in_a(kind: str) -> Any:
    """Small layers, in a kind of container."""
    layers = {"a": nn.Linear(1, 1), "b": nn.Linear(1, 1)}
    return layers if kind == "dict" else (tuple if kind == "tuple" else list)(layers.values())
