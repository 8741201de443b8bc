"""Models that a loss gives gradients, and that are in no group of an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .places import Spot
from .practice import Watch, practise
from .promised import Promised
from .tensors import learning
from .verdicts import Verdict, confirmed, refuted

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from modellint.claims.training import InNoGroup, NothingToTrain

    from .session import Session


def grouping(session: Session, claim: InNoGroup) -> Verdict:
    """Run a step: confirmed if `backward` gives the model's parameters a gradient, and no optimizer has any of them."""
    return practise(session, _Groups(Spot.of(claim.backward), Spot.of(claim.place)))


def optimizing(session: Session, claim: NothingToTrain) -> Verdict:
    """Run a step: confirmed if the optimizer at the place is given only tensors that need no gradient."""
    return practise(session, _Given(Spot.of(claim.place)))


class _Given(Watch):
    """Judges the tensors that an optimizer is given."""

    def judge(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]) -> Any:
        return run()

    def note_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        given = [one for group in optimizer.param_groups for one in group["params"]]
        unknown = set(map(id, self.layers.promises.any_layer.parameters()))
        if any(isinstance(one, Promised) or id(one) in unknown for one in given):
            return
        number = sum(one.requires_grad for one in given)
        said = f"the optimizer is given {len(given)} tensors, of which"
        if number:
            self.outcome = refuted(f"{said} {number} need a gradient")
        else:
            self.outcome = confirmed(f"{said} none needs a gradient")


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
