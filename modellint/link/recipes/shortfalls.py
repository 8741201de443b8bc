"""Layers that a training loses: in no checkpoint, or in no optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.recipes.moved import Layers, layers_of
from modellint.link.recipes.overview import LayerStatus, Registration, registrations_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item
    from modellint.link.recipes.used import LayerUse
    from modellint.source import Place

_MODULE_LIST = "torch.nn.ModuleList"


@dataclass(frozen=True, eq=False)
class Shortfall:
    """A layer that learns and is not saved, or that is used in training and not trained.

    `layer` may be an unsaved container; `part` is then the layer in it that `use` and `status` are about,
    otherwise the layer itself, and `parts` are all lost layers in it. `siblings` is a saved `ModuleList` that
    contains other layers of the training.
    """

    layer: Item
    part: Item
    status: LayerStatus
    use: LayerUse
    registration: Registration
    siblings: Item | None
    parts: tuple[Item, ...] = ()

    @property
    def place(self) -> Place:
        return self.layer.place

    @property
    def recipe(self) -> Recipe:
        """The recipe that is loaded."""
        return self.registration.recipe

    @property
    def is_certain(self) -> bool:
        """True if it holds on every path, and the recipe certainly has this script."""
        return self.use.certain and self.registration.is_only_script


def unsaved_layers(recipe: Recipe, project: Project) -> tuple[Shortfall, ...]:
    """The layers of a recipe that are trained and that the checkpointer does not save."""
    return project.once(("unsaved layers", recipe.file), lambda: _common_shortfalls(recipe, project, _find_unsaved))


def untrained_layers(recipe: Recipe, project: Project) -> tuple[Shortfall, ...]:
    """The layers of a recipe that are used in training and that no optimizer holds."""
    return project.once(("untrained layers", recipe.file), lambda: _common_shortfalls(recipe, project, _find_untrained))


def _common_shortfalls(
    recipe: Recipe, project: Project, find: Callable[[Registration, Layers], Iterable[Shortfall]]
) -> tuple[Shortfall, ...]:
    """The shortfalls found under every script of the recipe, for one of its Brains at least."""
    layers = layers_of(project)
    registrations = registrations_of(recipe, project)
    by_script: dict[str, dict[int, Shortfall]] = {}
    for registration in registrations:
        if registration.reach is not None:
            known = by_script.setdefault(registration.reach.brain.module.path, {})
            for shortfall in find(registration, layers):
                known.setdefault(id(shortfall.layer), shortfall)
    found = list(by_script.values())
    return tuple(s for key, s in found[0].items() if all(key in other for other in found)) if found else ()


def _find_unsaved(registration: Registration, layers: Layers) -> Iterator[Shortfall]:
    saved = registration.saved
    if saved is None or not saved.exists or not saved.closed:
        return
    lost = {id(status.item): status for status in registration.objects if _is_lost(status, registration)}
    if not lost:
        return
    outer = _outer(lost, registration, layers)
    siblings = _siblings(registration, layers)
    told: set[int] = set()
    for key, status in lost.items():
        layer = outer.get(key, status.item)
        use = _learning(status, registration)
        if use is not None and id(layer) not in told:
            told.add(id(layer))
            is_entry = any(root.item is layer for root in registration.modules.roots)
            parts = tuple(lost[other].item for other in lost if outer.get(other) is layer)
            yield Shortfall(layer, status.item, status, use, registration, siblings if is_entry else None, parts)


def _is_lost(status: LayerStatus, registration: Registration) -> bool:
    trained = status.trained is not None and status.trained.certain
    if not trained or status.saved is not None or status.may_be_frozen:
        return False
    if registration.modules.via(status.item) is None or _learning(status, registration) is None:
        return False
    return bool(status.has_parameters)


def _learning(status: LayerStatus, registration: Registration) -> LayerUse | None:
    return None if registration.used is None else registration.used.learning(status.item)


def _outer(lost: dict[int, LayerStatus], registration: Registration, layers: Layers) -> dict[int, Item]:
    """The object to save instead of each lost layer, if all its trained layers are lost, by id of the layer.

    It is a container with a key of its own, the layer that they are written inside of, or the entry of `modules`
    that wraps them.
    """
    saved = registration.saved
    found: dict[int, Item] = {}
    entries = {id(root.item) for root in registration.modules.roots}
    for owner in registration.evaluation.objects:
        model = layers.model(owner)
        if model is None or not model.is_module or owner.key is None or (saved is not None and owner in saved):
            continue
        held = [s for s in registration.layers if s.item is not owner and layers.holds(owner, s.item)]
        trained = [status for status in held if status.has_parameters is not False]
        if not trained or not all(id(status.item) in lost for status in trained):
            continue
        gathers = model.is_container and owner.path.find("[") < 0 and len(trained) > 1
        is_written_around = all(status.item.path.startswith(f"{owner.path}[") for status in trained)
        wraps = id(owner) in entries and not any(id(status.item) in entries for status in trained)
        if gathers or is_written_around or wraps:
            for status in trained:
                known = found.get(id(status.item))
                if known is None or layers.takes_along(owner, known):
                    found[id(status.item)] = owner
    return found


def _siblings(registration: Registration, layers: Layers) -> Item | None:
    """The saved `ModuleList` with most entries of `modules`; None without one."""
    best: Item | None = None
    most = 0
    for root in registration.saved.roots if registration.saved is not None else ():
        model = layers.model(root.item)
        if root.certain and model is not None and model.name == _MODULE_LIST:
            held = layers.held_by(root.item).certain
            count = sum(id(entry.item) in held for entry in registration.modules.roots)
            if count > most:
                best, most = root.item, count
    return best


def _find_untrained(registration: Registration, layers: Layers) -> Iterator[Shortfall]:
    trained = registration.trained
    if trained is None or not trained.closed or not trained.optimizers:
        return
    for status in registration.objects:
        if status.trained is not None or status.may_be_frozen or status.loaded is not None:
            continue
        entry = registration.modules.via(status.item)
        use = _learning(status, registration)
        if entry is not None and entry.certain and use is not None and status.has_parameters:
            yield Shortfall(status.item, status.item, status, use, registration, None)
