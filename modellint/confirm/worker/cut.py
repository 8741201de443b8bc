"""Losses whose backward pass reaches no parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .places import Spot
from .practice import Watch, practise
from .promised import Promised, value_of
from .standins import described
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.claims.training import NoGradient

    from .session import Session


def cutting(session: Session, claim: NoGradient) -> Verdict:
    """Run the place: confirmed if torch refuses the backward pass there, or it gives no parameter a gradient."""
    return practise(session, _Backward(Spot.of(claim.place)))


class _Backward(Watch):
    """Judges the call of `backward` at the place."""

    def judge(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]) -> Any:
        loss = value_of(args[0]) if args else None
        if loss is None and args and isinstance(args[0], Promised) and args[0].is_cut:
            loss = args[0].become(torch.ones(()))
        if name != "backward" or not isinstance(loss, torch.Tensor):
            return run()
        known = [one for layer in self.layers.called.values() for one in layer.parameters()]
        leaves = _leaves(loss.grad_fn)
        for one in known:
            one.grad = None
        try:
            run()
        except RuntimeError as error:
            if "does not require grad" in str(error) or "nference tensors" in str(error):
                self.outcome = confirmed(f"`backward` raises {described(error)}")
                return None
            raise
        number = sum(one.grad is not None for one in known)
        if known and not leaves:
            self.outcome = confirmed(f"after `backward`, the gradient of all {len(known)} parameters is None")
        elif number and not self.layers.promises.is_guessing:
            self.outcome = refuted(f"`backward` gives {number} of {len(known)} parameters a gradient")
        return None


def _leaves(node: Any) -> list[torch.Tensor]:
    """The tensors that a backward pass from a node gives a gradient."""
    found, seen, pending = [], set(), [node]
    while pending:
        current = pending.pop()
        if current is None or current in seen:
            continue
        seen.add(current)
        if (leaf := getattr(current, "variable", None)) is not None:
            found.append(leaf)
        pending += [following for following, _ in current.next_functions]
    return found
