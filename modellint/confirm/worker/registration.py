"""What a module registers: the tensors that can be reached from it, against `parameters()` and `state_dict()`."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import placement
from .placement import DEVICE
from .places import Spot
from .standins import described, likeliest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .probes import Session

CONFIRMED, REFUTED, UNCONFIRMED = "confirmed", "refuted", "unconfirmed"
_SHOWN = 3


def registration(session: Session, probe: dict[str, Any]) -> dict[str, Any]:
    """Whether the tensors below an attribute are parameters or buffers of the module that keeps them."""
    spot = Spot.of(probe["place"])
    reasons: list[str] = []
    refuted = False
    with placement.pretended():
        for attempt in session.attempts(probe["owner"], device=DEVICE):
            try:
                with _assignments(spot) as assigned:
                    owner = attempt.build()
            except Exception as error:
                if "before Module.__init__() call" in str(error) and spot.raised_on_line(error):
                    return {"status": CONFIRMED, "device": "fake", "detail": f"building raises {described(error)}"}
                reasons.append(f"building: {described(error)}")
                continue
            if id(owner) not in assigned:
                reasons.append(f"`{probe['attribute']}` is not assigned there with these arguments")
                continue
            fact, is_registered = _registered(owner, probe["attribute"])
            if is_registered is False:
                return {"status": CONFIRMED, "device": "fake", "detail": fact}
            refuted = is_registered is True and attempt.is_certain and not session.assumed()
            reasons.append(fact)
    if refuted:
        return {"status": REFUTED, "device": "fake", "detail": reasons[-1]}
    return {"status": UNCONFIRMED, "detail": likeliest(reasons)}


def _registered(owner: Any, attribute: str) -> tuple[str, bool | None]:
    """What is to be said of the tensors below an attribute, and whether they are all registered; None if unknown."""
    if not isinstance(owner, nn.Module):
        return f"`{type(owner).__name__}` is no `nn.Module`", None
    if not hasattr(owner, attribute):
        return f"`{type(owner).__name__}` has no `{attribute}` with these arguments", None
    value = getattr(owner, attribute)
    if isinstance(value, nn.Module):
        return f"`{attribute}` is a layer of its own", True if attribute in owner._modules else None
    found = list(placement.tensors(value, attribute))
    saved = {id(tensor) for tensor in owner.state_dict(keep_vars=True).values() if isinstance(tensor, torch.Tensor)}
    known = {id(tensor) for tensor in (*owner.parameters(), *owner.buffers())}
    lost = [path for path, tensor in found if id(tensor) not in known and id(tensor) not in saved]
    if lost:
        number = f"{len(lost)} tensors below `{attribute}` are" if len(lost) > 1 else f"1 tensor below `{attribute}` is"
        names = ", ".join(f"`{path}`" for path in lost[:_SHOWN]) + (" …" if len(lost) > _SHOWN else "")
        return f"{number} in neither `parameters()` nor `state_dict()`: {names}", False
    if isinstance(value, tuple) and len(value) == 1 and isinstance(value[0], nn.Module):
        return f"`{attribute}` is a tuple of one layer: `'tuple' object is not callable`", False
    return (
        (f"all tensors below `{attribute}` are registered", True)
        if found
        else (f"`{attribute}` holds no tensors", None)
    )


@contextmanager
def _assignments(spot: Spot) -> Iterator[set[int]]:
    """The modules whose attributes are assigned on the lines of `spot` meanwhile.

    Elsewhere, assignments before the constructor of `nn.Module` pass: they are not what is looked for.
    """
    original = nn.Module.__setattr__
    assigned: set[int] = set()

    def assign(self: nn.Module, name: str, value: Any) -> None:
        frame = inspect.currentframe()
        is_here = frame is not None and frame.f_back is not None and spot.has_line(frame.f_back)
        if is_here:
            assigned.add(id(self))
        try:
            original(self, name, value)
        except AttributeError as error:
            if is_here or "before Module.__init__() call" not in str(error):
                raise

    nn.Module.__setattr__ = assign
    try:
        yield assigned
    finally:
        nn.Module.__setattr__ = original
