"""The checks of a recipe: that it loads, and that its layers move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import placement, recipes
from .checking import FAILED, NOT_RUN, PASSED
from .loading import Loading
from .standins import StandIn
from .verdicts import NOTHING, PART, Verdict, quoted

if TYPE_CHECKING:
    from modellint.claims import Claim

    from .session import Session


def recipe_loading_check(session: Session, _: Claim) -> Verdict:
    """The check that HyperPyYAML loads a recipe and finds the names in its tags."""
    session.begin("loading the recipe")
    shallow = Loading(session.target, session.overrides, session.stand_ins)
    if shallow.errors:
        return Verdict(FAILED, "cpu", f"loading the recipe {shallow.errors[0][1]}")
    session.begin("looking for what the recipe names")
    if (lacking := shallow.lacks()) is not None:
        return Verdict(FAILED, "cpu", f"loading the recipe {lacking}")
    number = len(shallow.objects)
    return Verdict(PASSED, "cpu", f"HyperPyYAML loads its {number} keys")


def recipe_placement_check(session: Session, _: Claim) -> Verdict:
    """The check that the tensors below `modules` move; other keys with tensors on the CPU are only reported."""
    with session.machine():
        session.begin("building the recipe")
        recipe = session.recipe()
        objects = recipe.build(None)
        modules = objects.get(recipes.MODULES)
        if not modules:
            number = len({id(tensor) for value in objects.values() for _, tensor in placement.state(value)})
            detail = f"the recipe has no `modules`; {number} parameters and buffers are built"
            return Verdict(NOT_RUN, None, detail, NOTHING)
        session.begin("moving `modules`")
        recipes.place(objects, placement.DEVICE)
        stayed = [path for path, tensor in placement.state(modules, "modules") if tensor.device.type == "cpu"]
        if stayed:
            names = quoted(stayed)
            detail = f"after `modules` moved to {placement.DEVICE}, {names} stayed on `cpu`"
            return Verdict(FAILED, "fake", detail)
        number = len(list(placement.state(modules)))
        unbuilt = [part for part in placement.below(modules) if isinstance(part, recipes.Unbuilt | StandIn)]
        if unbuilt:
            first = unbuilt[0]
            name = first.name if isinstance(first, recipes.Unbuilt) else type(first).__qualname__
            reason = f"`{name}` could not be built: {recipe.reason(first)}"
            if not number:
                return Verdict(NOT_RUN, None, reason)
            detail = f"{number} parameters and buffers below `modules` move to {placement.DEVICE}, but {reason}"
            return Verdict(PASSED, "fake", detail, PART)
        others = [
            key
            for key, value in objects.items()
            if key != recipes.MODULES and any(t.device.type == "cpu" for _, t in placement.state(value))
        ]
        left = f"; outside of `modules`, and on `cpu`: {', '.join(f'`{key}`' for key in others)}" if others else ""
        detail = f"the {number} parameters and buffers below `modules` move to {placement.DEVICE}{left}"
        return Verdict(PASSED, "fake", detail)
