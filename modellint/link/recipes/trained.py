"""Layers whose parameters an optimizer holds, and layers that the script freezes.

The framework's Brain passes the parameters of all `modules` to its `opt_class`. A Brain with an `init_optimizers` of
its own, or a script, passes them itself: `self.hparams.opt_class(self.hparams.model.parameters())`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import NONE
from modellint.flow.object_run import covers
from modellint.link.recipes.closures import Closure, Root
from modellint.link.recipes.notes import text_and_place

if TYPE_CHECKING:
    from modellint.flow.heap import Path
    from modellint.link.recipes.items import Item
    from modellint.link.recipes.moved import Layers
    from modellint.link.recipes.reach import Reach
    from modellint.source import Place


class Trained(Closure):
    """The layers that optimizers hold. `uses_default`: the framework's Brain makes one itself."""

    def __init__(self, roots: list[Root], layers: Layers, *, closed: bool, uses_default: bool) -> None:
        super().__init__(roots, layers, closed=closed)
        self.uses_default = uses_default

    @property
    def optimizers(self) -> dict[str, Place]:
        """The places of the optimizers that certainly exist, by their expressions."""
        return {root.text: root.place for root in self.roots if root.certain}


def trained_by(reach: Reach, layers: Layers) -> Trained:
    """The layers that the optimizers of a Brain hold, those made by its script included."""
    closed = reach.modules is not None and reach.modules.closed and reach.notes.is_known
    default = _default(reach)
    roots = [*(default or ()), *_optimizer_roots(reach)]
    return Trained(roots, layers, closed=closed and default is not None, uses_default=bool(default))


def _default(reach: Reach) -> list[Root] | None:
    """The layers that the framework's `init_optimizers` trains; empty if it makes no optimizer, None if unknown."""
    brain = reach.brain
    if brain.replaces("init_optimizers"):
        return []
    value, given = brain.argument("opt_class"), reach.argument("opt_class")
    if value is None or given is None:
        return None if brain.call.has_unpacking else []
    if given == NONE:
        return []
    place, text = brain.module.place(value), brain.module.text_of(value)
    entries = reach.modules.entries.values() if reach.modules is not None else ()
    return [Root(item, text, place) for item in entries if item is not None]


def _optimizer_roots(reach: Reach) -> list[Root]:
    """The layers whose parameters the script passes to optimizers, or perhaps to one."""
    paths: dict[Item, list[Path]] = {}
    for made in reach.notes.trained:
        for item, direct in made.items:
            if made.is_optimizer and direct:
                paths.setdefault(item, []).append(made.path)
    certain = {item for item, taken in paths.items() if covers(taken)}
    found = [
        Root(item, *text_and_place(made.site, of_callee=True), made.is_optimizer and direct and item in certain)
        for made in reach.notes.trained
        if made.site.function is not None
        for item, direct in made.items
    ]
    return list({(root.item, root.text, root.place, root.certain): root for root in found}.values())


def frozen_by(reach: Reach, layers: Layers) -> Closure:
    """The layers whose parameters the script freezes and nowhere thaws for certain."""
    thawed = {change.item for change in reach.notes.frozen if change.direct and not change.freezes}
    roots = {
        change.item: Root(change.item, *text_and_place(change.site), change.direct)
        for change in reversed(reach.notes.frozen)
        if change.freezes and change.item not in thawed and change.site.function is not None
    }
    return Closure(list(roots.values()), layers, closed=True)
