"""A tensor that is no buffer, on a machine with a GPU that is not there: it stays, and meets what has moved."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from . import roles
from .inputs import Inputs
from .placement import DEVICE
from .places import Spot
from .registration import assignments
from .standins import described, likeliest

if TYPE_CHECKING:
    from modellint.claims.layers import LeftBehind, MadeAside

    from .classes import Attempt, Builder
    from .session import Session

CONFIRMED, REFUTED, UNCONFIRMED = "confirmed", "refuted", "unconfirmed"


def movement(session: Session, claim: LeftBehind) -> dict[str, Any]:
    """Whether an attribute stays on the CPU when its module moves, and `forward` mixes devices where it is used.

    It does not if it is registered at the place, with all choices of what was assumed.
    """
    reasons: list[str] = []
    moved: list[Builder] = []
    is_open = False
    detail = f"`{claim.attribute}` moves to {DEVICE} with its module"
    with session.machine():
        for variant in (0, roles.EQUAL):
            for attempt in session.attempts(claim.owner, variant=variant, device=DEVICE):
                try:
                    with assignments(Spot.of(claim.place)) as assigned:
                        owner = attempt.build()
                    outcome = _moved(attempt, owner, claim.attribute, Spot.of(claim.use), reasons)
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    continue
                if outcome is not None:
                    return outcome
                is_kept = attempt.is_certain or all(assigned.get(id(owner), [False]))
                if is_kept and _left_by(owner, claim.attribute) == "":
                    moved.append(attempt.builder)
                elif id(owner) in assigned:
                    is_open = True
    if not moved or is_open or session.stand_ins.names:
        return {"status": UNCONFIRMED, "detail": likeliest(reasons)}
    session.builder = moved[0]
    return {"status": REFUTED, "device": "fake", "detail": detail}


class _Met(TorchFunctionMode):
    """Sees whether a place is reached, and whether anything that torch is given there is not on the device."""

    def __init__(self, use: Spot) -> None:
        super().__init__()
        self._use = use
        self.is_reached = self.is_mixed = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frame = inspect.currentframe()
        while frame is not None and not self._use.has_line(frame):
            frame = frame.f_back
        if frame is not None:
            self.is_reached = True
            given = (part for part in tree_leaves((args, kwargs)) if isinstance(part, torch.Tensor))
            self.is_mixed = self.is_mixed or any(str(tensor.device) != DEVICE for tensor in given)
        return func(*args, **(kwargs or {}))


def making(session: Session, claim: MadeAside) -> dict[str, Any]:
    """Whether `forward` of a module that was moved mixes devices where it uses what it makes on the default one.

    It does not if all is on the device there.
    """
    reasons: list[str] = []
    with session.machine():
        for variant in (0, roles.EQUAL):
            for attempt in session.attempts(claim.owner, variant=variant, device=DEVICE):
                try:
                    owner = attempt.build()
                    outcome = _made(attempt, owner, Spot.of(claim.use), reasons)
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    continue
                if outcome is not None:
                    return outcome
    return {"status": UNCONFIRMED, "detail": likeliest(reasons)}


def _made(attempt: Attempt, owner: Any, use: Spot, reasons: list[str]) -> dict[str, Any] | None:
    """What happens to one object that makes tensors while it works; None if that shows nothing."""
    if not isinstance(owner, nn.Module):
        reasons.append(f"`{type(owner).__name__}` is no `nn.Module`")
        return None
    owner.eval().to(DEVICE)
    for name, other in vars(owner).items():
        if isinstance(other, torch.Tensor):
            setattr(owner, name, other.to(DEVICE))  # so that it is not the first to fail
    inputs = Inputs(owner.forward, owner, attempt)
    for specs in inputs.combinations():
        given = {name: spec.make(DEVICE) for name, spec in specs.items()}
        met = _Met(use)
        with met:
            error = _error(owner, given)
        if error is None and met.is_reached and not met.is_mixed:
            return {"status": REFUTED, "device": "fake", "detail": f"`forward` uses only what is on {DEVICE} there"}
        if error is None:
            reasons.append("`forward` works")
            return None
        if not mixes(error) or not use.raised_on_line(error):
            reasons.append(f"calling `forward`: {described(error)[:200]}")
            inputs.learn(error, specs)
            continue
        with torch.device(DEVICE):
            again = _error(owner, given)
        if again is not None and mixes(again) and use.raised_on_line(again):
            continue  # something else is on another device there
        attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
        detail = f"the module moved to {DEVICE}; `forward` raises {_said(error)}"
        return {"status": CONFIRMED, "device": "fake", "detail": detail}
    return None


def _moved(attempt: Attempt, owner: Any, attribute: str, use: Spot, reasons: list[str]) -> dict[str, Any] | None:
    """What happens to one object; None if that shows nothing."""
    if not isinstance(owner, nn.Module):
        reasons.append(f"`{type(owner).__name__}` is no `nn.Module`")
        return None
    away = _left_by(owner.eval(), attribute)
    if not away:
        reasons.append(f"`{attribute}` moves to {DEVICE} with its module")
        return None
    value = getattr(owner, attribute)
    stayed = f"`{attribute}` stayed on `{value.device}`"
    for name, other in vars(owner).items():
        if isinstance(other, torch.Tensor) and name != attribute:
            setattr(owner, name, other.to(away))  # so that it is not the first to fail
    inputs = Inputs(owner.forward, owner, attempt)
    for specs in inputs.combinations():
        given = {name: spec.make(away) for name, spec in specs.items()}
        error = _error(owner, given)
        if error is None:
            reasons.append(f"{stayed}, but `forward` works")
            return None
        if not mixes(error) or not use.raised_on_line(error):
            reasons.append(f"calling `forward`: {described(error)[:200]}")
            inputs.learn(error, specs)
            continue
        setattr(owner, attribute, value.to(away))
        again = _error(owner, given)
        setattr(owner, attribute, value)
        if again is not None and mixes(again) and use.raised_on_line(again):
            continue  # something else is on another device there
        attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
        detail = f"{stayed} when the module moved to {away}; `forward` raises {_said(error)}"
        return {"status": CONFIRMED, "device": "fake", "detail": detail}
    return None


def _left_by(owner: Any, attribute: str) -> str | None:
    """Where a layer is after it has left its tensor behind; nowhere if that follows to the GPU and back.

    None if there is no layer, or no tensor.
    """
    for device in (DEVICE, "cpu") if isinstance(owner, nn.Module) else ():
        owner.to(device)
        value = getattr(owner, attribute, None)
        if not isinstance(value, torch.Tensor):
            return None
        if value.device.type != torch.device(device).type:
            return device
    return "" if isinstance(owner, nn.Module) else None


def _error(owner: nn.Module, given: dict[str, Any]) -> Exception | None:
    try:
        owner(**given)
    except Exception as error:
        return error
    return None


def mixes(error: Exception) -> bool:
    """Whether torch complains about tensors on different devices."""
    text = str(error)
    return "same device" in text or "indices should be either on" in text or "FakeTensorDevice" in type(error).__name__


def _said(error: Exception) -> str:
    return described(error)[:200]
