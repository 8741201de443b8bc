"""Replacements of tensor functions that need a device's runtime, by operators that fake tensors implement.

Indexing, copying into a tensor and reading it make the tensor's device the current one, and moves initialise it. The
operators that they end in do neither.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock, patch

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

aten = torch.ops.aten
_MASKS = (torch.bool, torch.uint8)


def get(tensor: torch.Tensor, index: Any) -> torch.Tensor:
    """The result of `tensor[index]`; where a mask selects elements, all of them."""
    view, indices = _view_and_indices(tensor, index)
    for dim, mask in enumerate(indices):
        if mask is not None and mask.dtype in _MASKS:
            view = aten.reshape(view, [*view.shape[:dim], -1, *view.shape[dim + mask.dim() :]])
            indices[dim] = None
    if any(part is not None for part in indices):
        found: torch.Tensor = aten.index.Tensor(view, indices)
        return found
    return aten.alias(view) if view is tensor else view


def put(tensor: torch.Tensor, index: Any, value: Any) -> None:
    """The effect of `tensor[index] = value`."""
    view, indices = _view_and_indices(tensor, index)
    if not isinstance(value, torch.Tensor):
        value = aten.full.default([], value, dtype=tensor.dtype, device=tensor.device)
    elif value.device != tensor.device and value.dim() == 0:
        value = aten._to_copy(value, device=tensor.device)
    if any(part is not None for part in indices):
        aten.index_put_.default(view, indices, aten._to_copy(value, dtype=tensor.dtype))
    else:
        while value.dim() > view.dim() and value.shape[0] == 1:
            value = aten.squeeze.dim(value, 0)
        aten.copy_.default(view, value)


def _copy(tensor: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    return aten.copy_.default(tensor, source)


def _uniform(tensor: torch.Tensor, start: float = 0.0, end: float = 1.0, *, generator: Any = None) -> torch.Tensor:
    return aten.copy_.default(tensor, aten.uniform(tensor, start, end))


def _contiguous(tensor: torch.Tensor, memory_format: torch.memory_format = torch.contiguous_format) -> torch.Tensor:
    if tensor.is_contiguous(memory_format=memory_format):
        return tensor
    return aten.clone(tensor, memory_format=memory_format)


#: Replacements of tensor methods on a simulated device.
METHODS: dict[str, Callable[..., Any]] = {
    "__getitem__": get,
    "__setitem__": put,
    "copy_": _copy,
    "uniform_": _uniform,
    "contiguous": _contiguous,
    "item": aten._local_scalar_dense,
    "nonzero": aten.nonzero,
    "__invert__": aten.bitwise_not,
}


def method(name: str) -> Callable[..., Any]:
    """The method of a name for all tensors: torch's own, but replaced on the simulated device."""
    original, rerouted = getattr(torch.Tensor, name), METHODS[name]

    def call(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if self.device.type == "cuda":
            return rerouted(self, *args, **kwargs)
        if name in ("__getitem__", "__setitem__") and _is_elsewhere(args[0]):
            device = self.device.type
            raise RuntimeError(
                f"indices should be either on {device} or on the same device as the indexed tensor ({device})"
            )
        return original(self, *args, **kwargs)

    return call


def _is_elsewhere(index: Any) -> bool:
    """True if a part of an index lies on the simulated device, and is more than a number."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, torch.Tensor) and part.device.type == "cuda" and part.dim() > 0 for part in parts)


#: Functions of `torch.cuda` and their answers.
ANSWERS: dict[str, Any] = {
    "is_available": True,
    "is_bf16_supported": True,
    "device_count": 1,
    "current_device": 0,
    "get_device_capability": (8, 0),
    "get_device_name": "a device that is not there",
    "synchronize": None,
    "empty_cache": None,
    "set_device": None,
    "memory_allocated": 0,
    "mem_get_info": (1 << 34, 1 << 34),
}


@contextmanager
def runtime() -> Iterator[None]:
    """Let `torch.cuda` answer as if there were a device."""
    with ExitStack() as stack:
        for name, answer in ANSWERS.items():
            stack.enter_context(patch.object(torch.cuda, name, Mock(return_value=answer)))
        yield


def _view_and_indices(tensor: torch.Tensor, index: Any) -> tuple[torch.Tensor, list[torch.Tensor | None]]:
    """The view by an index's numbers, slices and new dimensions, and the index tensor of each dimension, or None."""
    parts = list(index) if isinstance(index, tuple) else [index]
    taken = sum(_consumed_dimensions(part) for part in parts)
    at = next((number for number, part in enumerate(parts) if part is Ellipsis), len(parts))
    parts[at : at + 1] = [slice(None)] * (tensor.dim() - taken)
    view, dim = tensor, 0
    indices: list[torch.Tensor | None] = []
    for part in parts:
        if part is None or isinstance(part, bool):
            view = aten.unsqueeze(view, dim)
            indices.append(None if part is None else aten.full([1], part, dtype=torch.bool, device=view.device))
            dim += 1
        elif isinstance(part, slice):
            view = aten.slice(view, dim, part.start, part.stop, 1 if part.step is None else part.step)
            indices.append(None)
            dim += 1
        elif isinstance(part, torch.Tensor) and not _consumed_dimensions(part):
            view = aten.unsqueeze(view, dim)
            indices.append(aten.reshape(part, [1]))
            dim += 1
        elif isinstance(part, torch.Tensor) and not part.dim():
            # The index's value is not known: any row has the same shape.
            row = aten._to_copy(aten.reshape(part, [1]), device=view.device)
            view = aten.squeeze.dim(aten.index_select(view, dim, row), dim)
        elif hasattr(part, "__index__") and not isinstance(part, torch.Tensor):
            view = aten.select(view, dim, part.__index__())
        else:
            found = part if isinstance(part, torch.Tensor) else torch.tensor(part)
            indices.append(found)
            dim += max(_consumed_dimensions(found), 1)
    return view, indices


def _consumed_dimensions(part: Any) -> int:
    """The number of the tensor's dimensions that a part of an index consumes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, torch.Tensor) and part.dtype in _MASKS:
        return part.dim()
    return 1
