"""The tensors in a value, their devices, and the storages that views share."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors in a value: itself, or in its lists, tuples and dicts."""
    return [part for part in tree_leaves(value) if isinstance(part, torch.Tensor)]


def learning(module: nn.Module) -> list[nn.Parameter]:
    """The parameters of a module that need a gradient."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def moved(value: Any, device: str) -> Any:
    """A value with all its tensors moved to a device."""
    return tree_map(lambda part: part.to(device) if isinstance(part, torch.Tensor) else part, value)


def address_of(tensor: torch.Tensor) -> int:
    """The address of a tensor's storage, which its views share; 0 for a sparse one, which has none."""
    try:
        return tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return 0


def storage_of(tensor: torch.Tensor) -> int:
    """A key of a tensor's storage, which its views share; a sparse tensor has its own."""
    return address_of(tensor) or id(tensor)
