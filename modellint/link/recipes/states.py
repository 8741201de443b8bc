"""What a training keeps beside its layers, and loses when it is resumed: schedulers, counters, optimizers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, Value, self_attribute
from modellint.link.recipes.evaluation import Item, ItemKind
from modellint.link.recipes.guards import Frame
from modellint.link.recipes.moved import Layers, layers_of
from modellint.link.recipes.overview import Registration, registrations_of
from modellint.link.recipes.scripts import BrainUse, own_events, script_functions
from modellint.link.recipes.trained import is_optimizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.reach import ItemUse, Reach
    from modellint.link.recipes.saved import Saved
    from modellint.source import Place

_FITTING = frozenset(("TRAIN", "VALID"))


@dataclass(frozen=True, eq=False)
class UnsavedState:
    """An object of the recipe whose state a training changes, and no checkpoint holds.

    `text` at `place`, in `function`, changes it. `makes` tells that the object is the class of an optimizer, and the
    state that of the optimizer which is made there.
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
    return project.once(("unsaved states", recipe.file), lambda: tuple(_agreed(recipe, project)))


def _agreed(recipe: Recipe, project: Project) -> Iterator[UnsavedState]:
    """What is lost with each script that may be meant, and that no Brain of them saves."""
    by_script: dict[str, dict[int, UnsavedState]] = {}
    registrations = [one for one in registrations_of(recipe, project) if one.reach is not None]
    for registration in registrations:
        assert registration.reach is not None
        found = by_script.setdefault(registration.reach.brain.module.path, {})
        for state in _unsaved(registration, project):
            found.setdefault(id(state.item), state)
    saved = [one.saved for one in registrations if one.saved is not None]
    scripts = list(by_script.values())
    for key, state in scripts[0].items() if scripts else ():
        if all(key in other for other in scripts) and not any(_may_save(one, state.item) for one in saved):
            yield state


def _may_save(saved: Saved, item: Item) -> bool:
    return saved.exists and (not saved.closed or item in saved)


def _unsaved(registration: Registration, project: Project) -> Iterator[UnsavedState]:
    saved = registration.saved
    reach = registration.reach
    if saved is None or not saved.exists or not saved.closed or reach is None:
        return
    layers = layers_of(project)
    only = registration.is_only_script
    for use in _changes(registration, layers):
        if use.item not in saved:
            yield UnsavedState(use.item, use.text, use.place, use.function, use.certain and only, saved, reach.brain)
    yield from _counters(registration, layers, saved)
    yield from _optimizers(registration, project, saved)


def _changes(registration: Registration, layers: Layers) -> Iterator[ItemUse]:
    """Calls, in the course of a training, that change what a checkpoint of the object would hold."""
    for use in registration.reach.item_uses if registration.reach is not None else ():
        model = layers.model(use.item)
        if model is not None and not use.stages.isdisjoint(_FITTING):
            callee = None if use.call is None else use.call.callee
            called = str(callee.data) if callee is not None and callee.op is Op.ATTR else ""
            names = ("forward", "__call__") if use.direct else (called,)
            constants = {str(n): c.value for n, c in use.item.fields.items() if c.kind is ItemKind.CONSTANT}
            if any(model.changes_state(name, constants) for name in names):
                yield use


def _counters(registration: Registration, layers: Layers, saved: Saved) -> Iterator[UnsavedState]:
    """What a training iterates over, epoch by epoch."""
    reach = registration.reach
    if reach is None or reach.brain.method("fit") is not None:
        return
    for function in script_functions(reach.brain.module):
        frame = Frame(function, "")
        for event in own_events(function):
            callee = event.value.callee if event.kind is EventKind.CALL else None
            if callee is None or callee.op is not Op.ATTR or callee.data != "fit":
                continue
            given = event.value.argument(0, "epoch_counter")
            item = None if given is None else reach.guards.item(given, frame)
            model = None if item is None else layers.model(item)
            if item is not None and model is not None and model.changes_state("__next__") and item not in saved:
                module = function.module
                place, text = module.place(event.value.callee), module.text_of(event.value.callee)
                yield UnsavedState(
                    item, text, place, function.qualname, registration.is_only_script, saved, reach.brain
                )


def _optimizers(registration: Registration, project: Project, saved: Saved) -> Iterator[UnsavedState]:
    """Optimizers that the Brain makes itself of classes in the recipe, keeps under a name, and does not add."""
    reach = registration.reach
    if reach is None:
        return
    kept: dict[str, tuple[Item, Value, Frame, bool]] = {}
    added: set[str] = set()
    for event, frame, certain in reach.all_events("parameters", "opt", "recoverable", "state_dict"):
        if event.kind is EventKind.STORE and event.target is not None and event.value.op is Op.CALL:
            name = self_attribute(event.target)
            made = None if name is None else _class_of(event.value, frame, reach, project)
            if name is not None and made is not None:
                kept.setdefault(name, (made, event.value, frame, certain))
        elif event.kind is EventKind.CALL and _hands_over(event.value):
            added.update(_attributes(event.value))
    for name, (item, call, frame, certain) in kept.items():
        if name not in added:
            module = frame.function.module
            sure = certain and registration.is_only_script
            yield UnsavedState(
                item,
                module.text_of(call.callee),
                module.place(call),
                frame.function.qualname,
                sure,
                saved,
                reach.brain,
                makes=True,
            )


def _class_of(call: Value, frame: Frame, reach: Reach, project: Project) -> Item | None:
    """The recipe's class of the optimizer that a call makes, if it makes one."""
    found = reach.guards.evaluate(call.callee, frame)
    is_class = isinstance(found, Item) and found.kind is ItemKind.NAME
    return found if is_class and isinstance(found, Item) and is_optimizer(call, frame, reach, project) else None


def _hands_over(call: Value) -> bool:
    """Whether a call adds something to a checkpointer, or takes its state to save it in another way."""
    return call.callee.op is Op.ATTR and call.callee.data in ("add_recoverable", "add_recoverables", "state_dict")


def _attributes(call: Value) -> Iterator[str]:
    """The attributes of `self` that a call mentions."""
    for part in call.walk():
        name = self_attribute(part)
        if name is not None:
            yield name
