"""Layers held by a mapping, an optimizer or a checkpointer: the closure behind moved, trained and saved.

Its roots are the entries of `modules`, the modules whose parameters an optimizer gets, or the
recoverables of a checkpointer. A root holds itself and every layer that it registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.link.recipes.items import Item
    from modellint.link.recipes.moved import Layers
    from modellint.source import Place


@dataclass(frozen=True, eq=False)
class Root:
    """An object that is held by name: `text` and `place` are those in the recipe or the script.

    `certain`: it is held on every path.
    """

    item: Item
    text: str
    place: Place
    certain: bool = True


@dataclass(frozen=True, eq=False)
class Via:
    """The root that registers a layer, and whether that is certain."""

    root: Root
    certain: bool


class Closure:
    """The layers that `roots` hold. Not `closed`: some held objects are unknown."""

    def __init__(self, roots: Iterable[Root], layers: Layers, *, closed: bool) -> None:
        self.roots = tuple(roots)
        self.closed = closed
        self._layers = layers
        self._known: dict[int, Via | None] = {}

    def via(self, item: Item) -> Via | None:
        """The root that holds a layer, a certain one if possible; None if no root is known to hold it."""
        if id(item) not in self._known:
            self._known[id(item)] = self._find(item)
        return self._known[id(item)]

    def _find(self, item: Item) -> Via | None:
        found: Via | None = None
        for root in self.roots:
            held = self._layers.held_by(root.item)
            if item in held:
                certain = root.certain and id(item) in held.certain
                if certain:
                    return Via(root, True)
                found = found or Via(root, False)
        return found

    def __contains__(self, item: Item) -> bool:
        return self.via(item) is not None
