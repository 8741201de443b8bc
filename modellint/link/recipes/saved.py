"""Objects that a checkpointer saves: the recoverables of the recipe, and those that the script adds.

The Brain adds its optimizer, loss scaler and progress, which are no objects of the recipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import NONE
from modellint.flow.object_run import covers
from modellint.link.recipes.atoms import Checkpointer, RecipeObject
from modellint.link.recipes.closures import Closure, Root
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.notes import text_and_place

if TYPE_CHECKING:
    from modellint.flow.domain import Atom
    from modellint.flow.heap import Path
    from modellint.link.recipes.moved import Layers
    from modellint.link.recipes.reach import Reach
    from modellint.source import Place

_CLASS = "Checkpointer"
_RECOVERABLES = "recoverables"


class Saved(Closure):
    """The objects that a checkpointer saves.

    `checkpointer` is the recipe's object, None if the script makes it (`exists`) or there is none at all.
    `recoverables` is the mapping in the recipe.
    """

    def __init__(
        self,
        roots: list[Root],
        layers: Layers,
        *,
        closed: bool,
        exists: bool,
        checkpointer: Item | None,
        recoverables: Item | None,
    ) -> None:
        super().__init__(roots, layers, closed=closed)
        self.exists = exists
        self.checkpointer = checkpointer
        self.recoverables = recoverables

    @property
    def place(self) -> Place | None:
        """The place of the recoverables, or else of the checkpointer, in the recipe."""
        shown = self.recoverables or self.checkpointer
        return None if shown is None else shown.place


def saved_by(reach: Reach, layers: Layers) -> Saved:
    """The objects that the checkpointer of a Brain saves."""
    return _Finder(reach, layers).run()


class _Finder:
    def __init__(self, reach: Reach, layers: Layers) -> None:
        self.reach = reach
        self.layers = layers
        self.roots: list[Root] = []
        self.closed = True
        self.exists = False
        self.checkpointer: Item | None = None
        self.recoverables: Item | None = None

    def run(self) -> Saved:
        brain = self.reach.brain
        given = self.reach.argument("checkpointer")
        if given is not None and given != NONE:
            self.exists = True
            self._start(given[0] if len(given) == 1 else None)
        elif given is None and (brain.call.has_unpacking or any(name == "checkpointer" for name, _, _ in brain.stored)):
            self.exists, self.closed = True, False
        if self.exists:
            self._script()
        return Saved(
            self.roots,
            self.layers,
            closed=self.closed,
            exists=self.exists,
            checkpointer=self.checkpointer,
            recoverables=self.recoverables,
        )

    def _start(self, atom: Atom | None) -> None:
        if isinstance(atom, RecipeObject) and atom.item.kind is ItemKind.NEW and atom.item.target.endswith(_CLASS):
            self.checkpointer = found = atom.item
            names = {name: child for name, child in self.layers.arguments(found) if name is not None}
            given = names.get(_RECOVERABLES)
            self.closed = not any(name.startswith("custom_") for name in names)
            if given is not None:
                self._recipe(given)
        else:
            self.closed = False
            if isinstance(atom, Checkpointer):
                self.closed = atom.is_complete

    def _recipe(self, mapping: Item) -> None:
        if mapping.kind is not ItemKind.MAPPING:
            self.closed = False
            return
        self.recoverables = mapping
        for name, child in mapping.fields.items():
            self.roots.append(Root(child, f"{_RECOVERABLES}[{name}]", child.place))
            self.closed = self.closed and child.kind is not ItemKind.UNKNOWN

    def _script(self) -> None:
        """Add the objects that the script adds to a checkpointer or writes to files itself."""
        notes = self.reach.notes
        self.closed = self.closed and not notes.saves_more
        for mapping in notes.recoverables:
            self._recipe(mapping)
        paths: dict[Item, list[Path]] = {}
        for change in notes.saved:
            if change.direct:
                paths.setdefault(change.item, []).append(change.path)
        certain = {item for item, taken in paths.items() if covers(taken)}
        for change in notes.saved:
            if change.site.function is not None:
                is_certain = change.direct and change.item in certain
                self.roots.append(Root(change.item, *text_and_place(change.site), certain=is_certain))
