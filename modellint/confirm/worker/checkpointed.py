"""The probe of checkpoints: whether a checkpointer saves an object that training changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

from . import placement, recipes
from .standins import StandIn
from .tensors import learning
from .verdicts import Verdict, confirmed, quoted, refuted, unconfirmed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.claims.recipes import NotSaved

    from .recipes import Recipe
    from .session import Session


def saving(session: Session, claim: NotSaved) -> Verdict:
    """Build the recipe: confirmed if the `recoverables` hold neither the object of the key nor its parameters."""
    key = claim.key
    with placement.pretended():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build({key, claim.checkpointer})
        found = recipes.lookup(objects, key)
        kept = _recoverables(recipes.lookup(objects, claim.checkpointer), recipe)
        if recipes.is_unbuilt(found):
            return unconfirmed(f"`{key}` could not be built: {recipe.reason(found)}")
        if kept is None:
            return unconfirmed(f"what `{claim.checkpointer}` saves is not known")
        for name, one in kept.items():
            if recipes.is_unbuilt(one) and any(part is found for part in placement.below(recipe.arguments_of(one))):
                return unconfirmed(f"`{key}` is passed to `{name}`, which could not be built: {recipe.reason(one)}")
        session.begin("looking at what is saved")
        if isinstance(found, nn.Module):
            return _saved_layer(key, found, kept)
        if any(part is found for one in kept.values() for part in placement.below(one)):
            return refuted(f"`recoverables` hold `{key}`", "fake")
        held = quoted([*kept]) or "nothing"
        return confirmed(f"`{key}` (`{type(found).__name__}`) is in none of the `recoverables`: {held}", "fake")


def _saved_layer(key: str, layer: nn.Module, kept: Mapping[str, Any]) -> Verdict:
    wanted = learning(layer)
    if not wanted:
        return refuted(f"`{key}` has no parameters that learn", "fake")
    held: set[int] = set()
    for one in kept.values():
        saved = one.state_dict(keep_vars=True).values() if isinstance(one, nn.Module) else placement.below(one)
        held.update(id(part) for part in saved)
    lost = [parameter for parameter in wanted if id(parameter) not in held]
    if not lost:
        return refuted(f"`recoverables` hold all {len(wanted)} parameters of `{key}`", "fake")
    number = f"none of the {len(wanted)}" if len(lost) == len(wanted) else f"{len(wanted) - len(lost)} of {len(wanted)}"
    saves = quoted([*kept]) or "nothing"
    return confirmed(f"what is saved, {saves}, holds {number} parameters of `{key}`", "fake")


def _recoverables(checkpointer: Any, recipe: Recipe) -> Mapping[str, Any] | None:
    """The objects that a checkpointer saves, by name; of a stand-in, those of its arguments. None if not known."""
    if not isinstance(checkpointer, StandIn):
        found = getattr(checkpointer, "recoverables", None)
    else:
        positional, named = recipe.arguments_of(checkpointer) or ([], {})
        found = named.get("recoverables", positional[1] if len(positional) > 1 else {})
    return found if hasattr(found, "items") else None
