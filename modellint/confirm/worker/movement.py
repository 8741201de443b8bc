"""A tensor that is no buffer, on a machine with a GPU that is not there: it stays, and meets what has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from . import roles
from .inputs import Inputs
from .placement import DEVICE
from .places import Spot
from .standins import described, likeliest

if TYPE_CHECKING:
    from .classes import Attempt
    from .probes import Session

CONFIRMED, REFUTED, UNCONFIRMED = "confirmed", "refuted", "unconfirmed"


def movement(session: Session, probe: dict[str, Any]) -> dict[str, Any]:
    """Whether an attribute stays on the CPU when its module moves, and `forward` mixes devices where it is used."""
    reasons: list[str] = []
    with session.machine():
        for variant in (0, roles.EQUAL):
            for attempt in session.attempts(probe["owner"], variant=variant, device=DEVICE):
                try:
                    outcome = _moved(attempt, probe["attribute"], Spot.of(probe["use"]), reasons)
                except Exception as error:
                    reasons.append(f"building: {described(error)}")
                    continue
                if outcome is not None:
                    return outcome
    return {"status": UNCONFIRMED, "detail": likeliest(reasons)}


def _moved(attempt: Attempt, attribute: str, use: Spot, reasons: list[str]) -> dict[str, Any] | None:
    """What happens to one object; None if that shows nothing. Raises what building it raises."""
    owner = attempt.build()
    if not isinstance(owner, nn.Module):
        reasons.append(f"`{type(owner).__name__}` is no `nn.Module`")
        return None
    owner.eval().to(DEVICE)
    value = getattr(owner, attribute, None)
    if not isinstance(value, torch.Tensor) or value.device.type != "cpu":
        detail = f"`{attribute}` moves to {DEVICE} with its module"
        reasons.append(detail)
        is_proof = isinstance(value, torch.Tensor) and attempt.is_certain
        return {"status": REFUTED, "device": "fake", "detail": detail} if is_proof else None
    for name, other in vars(owner).items():
        if isinstance(other, torch.Tensor) and name != attribute:
            setattr(owner, name, other.to(DEVICE))  # so that it is not the first to fail
    inputs = Inputs(owner.forward, owner, attempt)
    for specs in inputs.combinations():
        given = {name: spec.make(DEVICE) for name, spec in specs.items()}
        error = _error(owner, given)
        if error is None:
            reasons.append(f"`{attribute}` stayed on `cpu`, but `forward` works")
            return None
        if not mixes(error) or not use.raised_on_line(error):
            reasons.append(f"calling `forward`: {described(error)[:200]}")
            inputs.learn(error, specs)
            continue
        setattr(owner, attribute, value.to(DEVICE))
        again = _error(owner, given)
        setattr(owner, attribute, value)
        if again is not None and mixes(again) and use.raised_on_line(again):
            continue  # something else is on another device there
        attempt.builder.note_inputs({name: str(spec) for name, spec in specs.items() if spec.kind != "value"})
        detail = f"`{attribute}` stayed on `cpu` when the module moved to {DEVICE}; `forward` raises {_said(error)}"
        return {"status": CONFIRMED, "device": "fake", "detail": detail}
    return None


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
