"""Backward passes: those that leave layers without a gradient, and those that fail for what was changed in place."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from . import placement
from .inputs import Inputs
from .places import Spot
from .standins import described
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modellint.claims.layers import Changed, Unused

    from .attempts import Attempt
    from .session import Session


#: What torch says of a tensor that was changed in place, in the backward pass; and of a parameter, at once.
_CHANGED = ("modified by an inplace operation", "that requires grad is being used in an in-place operation")


def backward(session: Session, claim: Unused) -> Verdict:
    """Run a call and its backward pass: confirmed if the attribute's parameters get no gradient, but others do."""
    reasons: list[str] = []

    def see(attempt: Attempt) -> Verdict | None:
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

    return session.first_seen(claim.owner, see, reasons)


def change(session: Session, claim: Changed) -> Verdict:
    """Run a call and its backward pass: confirmed if torch refuses the change, refuted if not."""
    reasons: list[str] = []

    def see(attempt: Attempt) -> Verdict | None:
        passed = _Passed(Spot.of(claim.place))
        try:
            owner = attempt.build()
            with passed:
                reached = _parameters_with_gradient(owner, attempt, reasons, raises=_CHANGED)
        except RuntimeError as error:
            said = described(error)
            if any(words in said for words in _CHANGED):
                return confirmed(said)
            raise
        if reached is None:
            return None
        if passed.is_passed:
            return refuted(f"a backward pass of `{claim.owner}` succeeds")
        reasons.append("a backward pass succeeds, but the call did not reach it")
        return None

    return session.first_seen(claim.owner, see, reasons)


class _Passed(TorchFunctionMode):
    """Notes if a function of torch runs for a line."""

    def __init__(self, spot: Spot) -> None:
        super().__init__()
        self._spot = spot
        self.is_passed = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.is_passed = self.is_passed or self._spot.has_line(sys._getframe(1))
        return func(*args, **(kwargs or {}))


def _parameters(found: object) -> list[nn.Parameter]:
    if isinstance(found, nn.Module):
        return list(found.parameters())
    return [found] if isinstance(found, nn.Parameter) else []


def _parameters_with_gradient(
    owner: nn.Module, attempt: Attempt, reasons: list[str], raises: Sequence[str] = ()
) -> set[int] | None:
    """The parameters that get a gradient from the result of a call; None if no call works, or none needs gradients.

    Raises errors of calls that say any of the texts `raises`.
    """
    inputs = Inputs(owner.forward, owner, attempt)
    for given in inputs.combinations():
        try:
            result = owner(**{name: spec.make("cpu") for name, spec in given.items()})
        except Exception as error:
            if any(words in str(error) for words in raises):
                raise
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
