"""The states that a training has beside its layers, and loses when resumed: of schedulers, counters, optimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.recipes.items import Item, ItemKind
from modellint.link.recipes.moved import Layers, layers_of
from modellint.link.recipes.overview import Registration, registrations_of
from modellint.link.recipes.reach import calls_super
from modellint.link.recipes.scripts import script_functions
from modellint.link.recipes.trained import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.recipe import Recipe
    from modellint.link.recipes.reach import ItemUse, Reach
    from modellint.link.recipes.saved import Saved
    from modellint.link.recipes.scripts import BrainUse
    from modellint.rule import Project

_FITTING = frozenset(("TRAIN", "VALID"))
#: Methods that read a checkpoint, and the framework's method that does so before it trains.
_READING = frozenset(("recover_if_possible", "load_checkpoint", "load_checkpoints", "find_checkpoint"))
_START = "on_fit_start"


@dataclass(frozen=True, eq=False)
class UnsavedState:
    """An object of the recipe whose state a training changes, and no checkpoint holds.

    `text` at `place`, in `function`, changes it. `makes`: the object is the class of an optimizer, and the state that
    of the optimizer which is made there.
    """

    item: Item
    text: str
    place: Place
    function: str
    certain: bool
    saved: Saved
    brain: BrainUse
    makes: bool = False


def unsaved_states(recipe: Recipe, project: Project) -> tuple[UnsavedState, ...]:
    """The objects beside layers whose state is lost when a training under `recipe` is resumed."""
    return project.once(("unsaved states", recipe.file), lambda: tuple(_lost_states(recipe, project)))


def _lost_states(recipe: Recipe, project: Project) -> Iterator[UnsavedState]:
    """The states that are lost with each script that may be meant, and that no Brain of these saves."""
    by_script: dict[str, dict[int, UnsavedState]] = {}
    registrations = [one for one in registrations_of(recipe, project) if one.reach is not None]
    for registration in registrations:
        assert registration.reach is not None
        found = by_script.setdefault(registration.reach.brain.module.path, {})
        for state in _states_unsaved_by(registration, project):
            found.setdefault(id(state.item), state)
    saved = [one.saved for one in registrations if one.saved is not None]
    scripts = list(by_script.values())
    for key, state in scripts[0].items() if scripts else ():
        if all(key in other for other in scripts) and not any(_may_save(one, state.item) for one in saved):
            yield state


def _may_save(saved: Saved, item: Item) -> bool:
    return saved.exists and (not saved.closed or item in saved)


def _states_unsaved_by(registration: Registration, project: Project) -> Iterator[UnsavedState]:
    saved = registration.saved
    reach = registration.reach
    if saved is None or not saved.exists or not saved.closed or reach is None or not _resumes(reach):
        return
    layers = layers_of(project)
    only = registration.is_only_script
    for use in _changes(registration, layers):
        if use.item not in saved:
            yield UnsavedState(use.item, use.text, use.place, use.function, use.certain and only, saved, reach.brain)
    yield from _counters(registration, layers, saved)
    yield from _optimizers(registration, saved)


def _resumes(reach: Reach) -> bool:
    """True if a training may resume another one: the framework or the script reads a checkpoint."""
    brain = reach.brain
    methods = [method for cls in brain.classes for method in cls.methods.values()]
    words = [function.words for function in (*script_functions(brain.module), *methods)]
    if any(not _READING.isdisjoint(one) for one in words):
        return True
    start, loop = brain.method(_START), brain.method("fit")
    is_asked = loop is None or calls_super(loop, "fit") or any(_START in one for one in words)
    return is_asked and (start is None or calls_super(start, _START))


def _changes(registration: Registration, layers: Layers) -> Iterator[ItemUse]:
    """The calls in the course of a training that change the state which a checkpoint of the object would hold."""
    for use in registration.reach.item_uses if registration.reach is not None else ():
        model = layers.model(use.item)
        if model is not None and not use.stages.isdisjoint(_FITTING):
            names = ("forward", "__call__") if use.direct else (use.method,)
            constants = {str(n): c.value for n, c in use.item.fields.items() if c.kind is ItemKind.CONSTANT}
            if any(model.changes_state(name, constants) for name in names):
                yield use


def _counters(registration: Registration, layers: Layers, saved: Saved) -> Iterator[UnsavedState]:
    """The epoch counters that `fit` iterates over and no checkpoint holds."""
    reach = registration.reach
    if reach is None or reach.brain.method("fit") is not None:
        return
    for name, arguments, site in reach.notes.asked:
        given = arguments.argument(0, "epoch_counter") if name == "fit" else None
        for item, _ in reach.surroundings.objects.items(given or ()):
            model = layers.model(item)
            if (
                model is not None
                and model.changes_state("__next__")
                and item not in saved
                and site.function is not None
            ):
                module = site.function.module
                place, text = module.place(site.value.callee), module.text_of(site.value.callee)
                function = site.function.qualname
                yield UnsavedState(item, text, place, function, registration.is_only_script, saved, reach.brain)


def _optimizers(registration: Registration, saved: Saved) -> Iterator[UnsavedState]:
    """Optimizers that the Brain makes itself of classes in the recipe, keeps under a name, and does not add."""
    reach = registration.reach
    for optimizer, certain in reach.notes.kept if reach is not None else ():
        item, site = optimizer.item, optimizer.site
        if reach is None or item is None or site.function is None or optimizer in reach.notes.added:
            continue
        sure = certain and registration.is_only_script
        text, place = shown(site, of_callee=True)
        yield UnsavedState(item, text, place, site.function.qualname, sure, saved, reach.brain, makes=True)
