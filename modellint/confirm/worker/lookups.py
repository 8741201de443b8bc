"""Look-ups of a run: the rows of the table, the ids, and torch's error if there is one."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from .beside import OPERATORS
from .places import innermost
from .tensors import tensors_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .places import Spot

EMBEDDINGS = tuple(
    getattr(torch.nn.functional, name.rpartition(".")[2]) for name in sorted(OPERATORS.functions("ids:input@0"))
)
_SELECTIONS = tuple(
    getattr(of, name) for of in (torch, torch.Tensor) for name in sorted(OPERATORS.methods("Tensor", "ids:index@2"))
)


@dataclass
class SeenLookup:
    """Ids from `low` to `high` that look up `rows` rows; for a slice, `high` is the last row that it asks for."""

    place: str
    rows: int
    low: int
    high: int
    is_slice: bool = False
    #: A number of Python picks a single row: only where that is the place in question is it more than a part of data.
    is_number: bool = False
    error: Exception | None = None

    def __str__(self) -> str:
        if self.is_slice:
            return f"a slice of {self.high + 1} of {self.rows} rows"
        ids = f"id {self.low}" if self.low == self.high else f"ids from {self.low} to {self.high}"
        return f"{ids} in {self.rows} row{'s' * (self.rows != 1)}"


class SeenLookups(TorchFunctionMode):
    """Notes the look-ups at a place, or everywhere without one."""

    def __init__(self, spot: Spot | None) -> None:
        super().__init__()
        self._spot = spot
        self.found: list[SeenLookup] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        is_lookup = func in EMBEDDINGS or func is torch.Tensor.__getitem__ or func in _SELECTIONS
        if not is_lookup:
            return func(*args, **kwargs)
        frame = inspect.currentframe()
        if self._spot is not None and not self._spot.is_running(frame):
            return func(*args, **kwargs)
        found = list(_lookups(func, args, kwargs, innermost(frame)))
        if self._spot is None:
            found = [lookup for lookup in found if not lookup.is_number]
        self.found.extend(found)
        try:
            return func(*args, **kwargs)
        except (IndexError, RuntimeError) as error:
            for lookup in found:
                lookup.error = error
            raise


def _lookups(func: Any, args: Any, kwargs: Any, place: str) -> Iterator[SeenLookup]:
    if func in EMBEDDINGS:
        ids, table = _argument(args, kwargs, 0, "input"), _argument(args, kwargs, 1, "weight")
        yield from _index_lookup(table, 0, ids, place)
    elif func in _SELECTIONS:
        table, dim = args[0], _argument(args, kwargs, 1, "dim")
        yield from _index_lookup(table, dim, _argument(args, kwargs, 2, "index"), place)
    else:
        table, index = args[0], args[1]
        parts = index if isinstance(index, tuple) else (index,)
        known = sum(part is not None and part is not Ellipsis for part in parts)
        dim = 0
        for part in parts:
            if part is Ellipsis:
                dim += table.dim() - known
            elif isinstance(part, slice):
                yield from _slice_lookup(table, dim, part, place)
                dim += 1
            elif type(part) is int and part >= 0 and dim < table.dim():
                yield SeenLookup(place, int(table.shape[dim]), part, part, is_number=True)
                dim += 1
            elif part is not None and not isinstance(part, bool):
                is_mask = isinstance(part, torch.Tensor) and part.dtype is torch.bool
                if isinstance(part, torch.Tensor) and not is_mask:
                    yield from _index_lookup(table, dim, part, place)
                dim += part.dim() if is_mask else 1


def _argument(args: Any, kwargs: Any, position: int, name: str) -> Any:
    return args[position] if len(args) > position else kwargs.get(name)


def _index_lookup(table: Any, dim: Any, ids: Any, place: str) -> Iterator[SeenLookup]:
    numbers = tensors_in(ids)
    if not isinstance(table, torch.Tensor) or not numbers or not isinstance(dim, int) or dim >= table.dim():
        return
    kind = numbers[0].dtype
    if numbers[0].numel() and not kind.is_floating_point and not kind.is_complex:
        low, high = int(numbers[0].min()), int(numbers[0].max())
        yield SeenLookup(place, int(table.shape[dim]), low, high)


def _slice_lookup(table: torch.Tensor, dim: int, part: slice, place: str) -> Iterator[SeenLookup]:
    if part.stop is None or dim >= table.dim():
        return
    stop, start = int(part.stop), 0 if part.start is None else int(part.start)
    if stop > 0 and 0 <= start <= stop:
        yield SeenLookup(place, int(table.shape[dim]), start, stop - 1, is_slice=True)
