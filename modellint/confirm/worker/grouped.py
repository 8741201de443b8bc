"""Models that a loss gives gradients, and that are in no group of an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .places import Spot
from .practice import Watch, practise
from .tensors import learning
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.claims.training import InNoGroup

    from .session import Session


def grouping(session: Session, claim: InNoGroup) -> Verdict:
    """Run a step: confirmed if `backward` gives the model's parameters a gradient, and no optimizer has any of them."""
    return practise(session, _Groups(Spot.of(claim.backward), Spot.of(claim.place)))


class _Groups(Watch):
    """Compares the parameters that get a gradient with those of the optimizers."""

    def judge(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]) -> Any:
        result = run()
        if name != "backward" or not self.made or not self.optimizers:
            return result
        model = self.made[0]
        wanted = learning(model)
        reached = [one for one in wanted if one.grad is not None]
        if not reached:
            return result
        given = {
            id(one) for optimizer in self.optimizers for group in optimizer.param_groups for one in group["params"]
        }
        shown = f"`backward` gives {len(reached)} of {len(wanted)} parameters of `{type(model).__name__}` a gradient"
        optimizers = "1 optimizer" if len(self.optimizers) == 1 else f"{len(self.optimizers)} optimizers"
        number = sum(id(one) in given for one in wanted)
        if number:
            self.outcome = refuted(f"{shown}, and {number} of them are in a group of {optimizers}")
        else:
            fact = f"the {len(given)} parameters of {optimizers} are all others"
            self.outcome = confirmed(f"{shown}, and {fact}")
        return result
