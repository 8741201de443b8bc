"""Watch one look-up of a run, and keep others from failing before it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode

from .lookups import EMBEDDINGS
from .standins import described
from .tensors import tensors_in

if TYPE_CHECKING:
    from types import FrameType

    from .places import Spot

_NOT_IDS = "Expected tensor for argument #1 'indices'"


class Watch(TorchFunctionMode):
    """Watches the look-ups at a place, or in certain tables; elsewhere, ids out of range are replaced.

    So an earlier mistake does not hide the one that is watched for.
    """

    def __init__(self, spot: Spot | None, tables: list[nn.Embedding], given: list[torch.Tensor]) -> None:
        super().__init__()
        self._spot = spot
        self._tables = {id(table.weight) for table in tables}
        self._given = {_storage(tensor) for tensor in given}
        self._inside = False
        self.seen = False
        self.rows: int | None = None
        #: The error of torch at the place, and a description of the ids there.
        self.error: Exception | None = None
        self.ids: str = ""
        self.highest: int | None = None
        #: True if the failing ids are one of the inputs, passed on unchanged.
        self.is_input = False

    @property
    def is_not_ids(self) -> bool:
        """True if torch refused the ids because they are no integers."""
        return self.error is not None and _NOT_IDS in str(self.error)

    @property
    def is_outside(self) -> bool:
        """True if an id was out of range."""
        return isinstance(self.error, IndexError)

    @property
    def fact(self) -> str:
        return f"{self.ids}: torch raises {described(self.error)[:200]}" if self.error is not None else self.ids

    def is_here(self, frame: FrameType | None, weight: object) -> bool:
        """True if this is the watched look-up."""
        if self._tables:
            return id(weight) in self._tables
        return self._spot is not None and self._spot.is_running(frame)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if self._inside or (func not in EMBEDDINGS and func is not torch.Tensor.__getitem__):
            return func(*args, **kwargs)
        is_embedding = func in EMBEDDINGS
        ids = (args[0] if args else kwargs.get("input")) if is_embedding else args[1]
        table = (args[1] if len(args) > 1 else kwargs.get("weight")) if is_embedding else args[0]
        indices = [part for part in tensors_in(ids) if part.dtype is not torch.bool]
        if not indices or not isinstance(table, torch.Tensor):
            return func(*args, **kwargs)
        if not self.is_here(inspect.currentframe(), table):
            if is_embedding and args:
                args = (_with_rows(args[0], table, 0), *args[1:])
            elif ids is indices[0] and not ids.dtype.is_floating_point:
                args = (table, _with_rows(ids, table, -int(table.shape[0])))
            return func(*args, **kwargs)
        return self._look_up(func, args, kwargs, indices[0], table)

    def _look_up(self, func: Any, args: Any, kwargs: Any, ids: torch.Tensor, table: torch.Tensor) -> Any:
        self.seen = True
        self.rows = int(table.shape[0])
        self._inside = True
        try:
            return func(*args, **kwargs)
        except (IndexError, RuntimeError) as error:
            if self.error is None:
                self.error = error
                self.ids = _ids_text(ids, self.rows)
                self.highest = _highest(ids)
                self.is_input = _storage(ids) in self._given
            raise
        finally:
            self._inside = False


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _with_rows(ids: Any, table: torch.Tensor, lowest: int) -> Any:
    if not isinstance(ids, torch.Tensor) or not table.dim():
        return ids
    return ids.long().clamp(lowest, max(int(table.shape[0]) - 1, 0))


def _highest(ids: torch.Tensor) -> int | None:
    if isinstance(ids, FakeTensor) or ids.dtype.is_floating_point or not ids.numel():
        return None
    with torch.utils._python_dispatch._disable_current_modes():
        return int(ids.max().item())


def _ids_text(ids: torch.Tensor, rows: int) -> str:
    if isinstance(ids, FakeTensor):
        return f"{'real numbers' if ids.dtype.is_floating_point else 'ids'} look up {rows} rows"
    with torch.utils._python_dispatch._disable_current_modes():
        if not ids.numel():
            return f"no ids look up {rows} rows"
        low, high = ids.min().item(), ids.max().item()
    if ids.dtype.is_floating_point:
        return f"real numbers from {low:.3g} to {high:.3g} look up {rows} rows"
    return f"ids from {low} to {high} look up {rows} rows"
