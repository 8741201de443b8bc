"""The tensors that a value holds, where they go, and which of them are views of the same numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors that a value is, or that its lists, tuples and dicts hold."""
    return [part for part in tree_leaves(value) if isinstance(part, torch.Tensor)]


def learning(module: nn.Module) -> list[nn.Parameter]:
    """The parameters of a module that learn."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def moved(value: Any, device: str) -> Any:
    """A value with all tensors that it is, or holds, on a device."""
    return tree_map(lambda part: part.to(device) if isinstance(part, torch.Tensor) else part, value)


def address_of(tensor: torch.Tensor) -> int:
    """Where the numbers of a tensor lie, which its views have in common; 0 for a sparse one: it has no such place."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return 0


def storage_of(tensor: torch.Tensor) -> int:
    """What tensors have in common that are views of the same numbers; a sparse one has it alone."""
    return address_of(tensor) or id(tensor)
