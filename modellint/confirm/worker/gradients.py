"""Layers that nothing uses: a backward pass leaves them without a gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from . import placement
from .inputs import Inputs
from .standins import described
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.claims.layers import Unused

    from .attempts import Attempt
    from .session import Session


def backward(session: Session, claim: Unused) -> Verdict:
    """Run a call and its backward pass: confirmed if the attribute's parameters get no gradient, but others do."""
    reasons: list[str] = []

    def seen(attempt: Attempt) -> Verdict | None:
        owner = attempt.build()
        held = _parameters(getattr(owner, claim.attribute, None))
        if not isinstance(owner, nn.Module) or not held:
            reasons.append(f"`{claim.attribute}` has no parameters")
            return None
        others = len(list(owner.parameters())) - len(held)
        reached = _parameters_with_gradient(owner, attempt, reasons)
        if reached is None:
            return None
        if any(id(parameter) in reached for parameter in held):
            return refuted(f"a backward pass gives `{claim.attribute}` a gradient")
        return confirmed(
            f"a backward pass gives {len(reached)} of {others} other parameters of `{claim.owner}` a gradient, "
            f"and none to `{claim.attribute}`"
        )

    return session.first_seen(claim.owner, seen, reasons)


def _parameters(found: object) -> list[nn.Parameter]:
    if isinstance(found, nn.Module):
        return list(found.parameters())
    return [found] if isinstance(found, nn.Parameter) else []


def _parameters_with_gradient(owner: nn.Module, attempt: Attempt, reasons: list[str]) -> set[int] | None:
    """The parameters that get a gradient from the result of a call; None if no call works, or none needs gradients."""
    inputs = Inputs(owner.forward, owner, attempt)
    for given in inputs.combinations():
        try:
            result = owner(**{name: spec.make("cpu") for name, spec in given.items()})
        except Exception as error:
            reasons.append(f"calling it: {described(error)[:200]}")
            inputs.learn(error.with_traceback(None), given)
            continue
        if not _is_differentiated(placement.below(result)):
            reasons.append("what a call gives depends on no parameter")
            return None
        return {id(parameter) for parameter in owner.parameters() if parameter.grad is not None}
    return None


def _is_differentiated(results: Iterable[object]) -> bool:
    """Run the backward pass from all results that need gradients; False if none does."""
    tensors = [one for one in results if isinstance(one, torch.Tensor) and one.requires_grad]
    if tensors:
        torch.stack([tensor.abs().sum().float() for tensor in tensors]).sum().backward()
    return bool(tensors)
