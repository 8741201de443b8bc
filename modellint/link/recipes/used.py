"""Uses of a recipe's layers: where, in which stages of the training, and whether gradients reach them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.link.recipes.items import Item
    from modellint.link.recipes.moved import Layers
    from modellint.link.recipes.reach import ItemUse, ModuleUse, Reach
    from modellint.source import Place


@dataclass(frozen=True, eq=False)
class LayerUse:
    """A layer in use: at `place`, in `function`, through `owners` (the object that the script uses first).

    `stages` are "TRAIN", "VALID" and "TEST"; `learns`: gradients reach the layer there in a training step;
    `certain`: it happens on every path.
    """

    place: Place
    text: str
    function: str
    stages: frozenset[str]
    owners: tuple[Item, ...]
    learns: bool
    certain: bool


class Used:
    """The uses of layers, in the order in which they were found."""

    def __init__(self, reach: Reach, layers: Layers) -> None:
        self._uses: dict[int, list[LayerUse]] = {}
        self._layers = layers
        self._entries = [item for item in reach.modules.entries.values() if item is not None] if reach.modules else []
        for use, item in computations(reach, layers):
            for used in layers.reached_from(item):
                found = self._uses.setdefault(id(used.layer), [])
                found.append(
                    LayerUse(
                        place=use.place,
                        text=use.text,
                        function=use.function,
                        stages=use.stages,
                        owners=used.owners,
                        learns=use.learns and self._passes_gradients(used.owners, used.layer),
                        certain=use.certain,
                    )
                )

    def of(self, item: Item) -> tuple[LayerUse, ...]:
        """The uses of a layer."""
        return tuple(self._uses.get(id(item), ()))

    def learning(self, item: Item) -> LayerUse | None:
        """A use of a layer in which gradients reach it, a certain one if there is any; None without one."""
        uses = [use for use in self.of(item) if use.learns]
        return next((use for use in uses if use.certain), uses[0] if uses else None)

    def _passes_gradients(self, owners: tuple[Item, ...], layer: Item) -> bool:
        """True if each owner registers the next part, and is a container or in `modules`; a searcher is neither."""
        return all(self._is_made_of(owner, part) for owner, part in pairwise((*owners, layer)))

    def _is_made_of(self, owner: Item, part: Item) -> bool:
        model = self._layers.model(owner)
        if model is None or not (model.is_container or any(owner is entry for entry in self._entries)):
            return False
        return self._layers.holds(owner, part)


def computations(reach: Reach, layers: Layers) -> Iterator[tuple[ItemUse | ModuleUse, Item]]:
    """The objects of the recipe and entries of `modules` that a Brain computes with, with the uses."""
    for use in reach.item_uses:
        model = layers.model(use.item)
        # Methods of other objects need not compute with the layers that they hold: think of a checkpointer.
        if model is not None and (use.direct or model.is_module):
            yield use, use.item
    for entry in reach.module_uses:
        item = reach.modules.entries.get(entry.name) if reach.modules is not None else None
        if item is not None:
            yield entry, item
