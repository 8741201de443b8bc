"""Widths inside a model that do not fit: a layer is given another number of features than it takes, whatever is passed.

What was made up as input must have no part in it. So each size of the inputs is changed in turn: a misfit that is the
model's own stays as it is, or an earlier layer already refuses the change.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.modules import module as hooks
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from . import roles
from .calls import lasting
from .checking import FAILED, LARGE, NOT_RUN, NOTHING, PASSED, Call, Check
from .inputs import BATCH, TIME
from .places import innermost
from .standins import described

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim

    from .checking import Outcome, Specs
    from .session import Session

#: Where layers say how many features they take, and in which dimension, from the end or from the start.
_TAKES = {
    "in_features": -1,
    "input_size": -1,
    "embed_dim": -1,
    "normalized_shape": -1,
    "in_channels": 1,
    "num_features": 1,
    "num_channels": 1,
}
_MOST = 40


@dataclass(frozen=True)
class Misfit:
    """A layer that is given another number of features than it takes."""

    layer: str
    place: str
    taken: int
    given: int
    #: After how many functions of torch it came up.
    after: int

    def is_same(self, other: Misfit) -> bool:
        return replace(other, after=self.after) == self


class _Seen(TorchFunctionMode):
    """Which layers are at work, which have been, and how many functions torch was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0
        self.place = ""
        #: The layers that are at work, the innermost last, with what they were given.
        self.running: list[tuple[nn.Module, tuple[Any, ...]]] = []
        #: The layers that have done their work, with the sizes of what they gave.
        self.done: list[tuple[nn.Module, list[tuple[int, ...]]]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.number += 1
        return result

    def __enter__(self) -> Any:
        self._handles = [
            hooks.register_module_forward_pre_hook(self._begin),
            hooks.register_module_forward_hook(self._end),
        ]
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        super().__exit__(*error)

    def _begin(self, layer: nn.Module, given: tuple[Any, ...]) -> None:
        self.running.append((layer, given))
        if type(layer).__module__.startswith("torch.nn."):
            self.place = innermost(sys._getframe(1)) or self.place

    def _end(self, layer: nn.Module, given: tuple[Any, ...], result: Any) -> None:
        while self.running and self.running.pop()[0] is not layer:
            pass
        if type(layer).__module__.startswith("torch.nn."):
            self.done.append((layer, [tuple(one.shape) for one in tree_leaves(result) if hasattr(one, "shape")]))


@contextlib.contextmanager
def _noting_places(made: dict[int, str]) -> Iterator[None]:
    """Note where each layer is made meanwhile, by its identity."""
    original = nn.Module.__init__

    def init(self: nn.Module, *args: Any, **kwargs: Any) -> None:
        made.setdefault(id(self), innermost(sys._getframe(1)))
        original(self, *args, **kwargs)

    nn.Module.__init__ = init
    try:
        yield
    finally:
        nn.Module.__init__ = original


def shapes_check(session: Session, _: Claim) -> Outcome:
    """Whether the layers of a model take as many features as they are given."""
    first: tuple[Misfit, str] | None = None
    outcome: Outcome = {}
    for variant in (0, 2, roles.EQUAL):
        check = Check(session)
        with FakeTensorMode(allow_non_fake_inputs=True) if check.size(variant) > LARGE else contextlib.nullcontext():
            outcome, misfit = _fitted(check, variant)
        if misfit is None or outcome["status"] != FAILED:
            break
        first = first or (misfit, outcome["detail"])
        call_assumed = outcome.pop("assumed")
        if not call_assumed:
            return outcome
        if not misfit.is_same(first[0]):
            break
    else:
        assert first is not None
        if all(_varies(name) for name in outcome.pop("assumed", ())):
            return {"status": FAILED, "device": "cpu", "detail": first[1]}
    if first is None:
        return outcome
    return {"status": NOT_RUN, "detail": f"it depends on what was assumed: {first[1]}"}
