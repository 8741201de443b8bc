"""The states that a training has beside its layers, and loses when resumed: of schedulers, counters, optimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

_FITTING = frozenset(("TRAIN", "VALID"))
#: Methods that read a checkpoint, and the framework's method that does so before it trains.
_READING = frozenset(("recover_if_possible", "load_checkpoint", "load_checkpoints", "find_checkpoint"))
_START = "on_fit_start"


@dataclass(frozen=True, eq=False)
class UnsavedState:
    """An object of a loaded `recipe` whose state a training of `brain` changes by `use`, and no checkpoint holds.

    `makes`: the object is the class of an optimizer, and the state that of the optimizer which `use` makes.
    """

    use: queries.ItemUse
    recipe: Recipe
    brain: queries.BrainUse
    saved: queries.Saved
    is_certain: bool
    makes: bool = False

    @property
    def item(self) -> queries.Item:
        return self.use.item

    @property
    def place(self) -> Place:
        return self.item.place


def unsaved_states(recipe: Recipe, project: Project) -> tuple[UnsavedState, ...]:
    """The objects beside layers whose state is lost when a training under `recipe` is resumed."""
    return project.once(("unsaved states", recipe.file), lambda: tuple(_lost_states(queries.about(recipe, project))))


def _lost_states(asked: queries.Queries) -> Iterator[UnsavedState]:
    """The states that are lost with each script that may be meant, and that no Brain of these saves."""
    by_script: dict[str, dict[int, UnsavedState]] = {}
    saved: list[queries.Saved] = []
    for registration in asked.registrations():
        if registration.reach is not None and registration.saved is not None:
            saved.append(registration.saved)
            found = by_script.setdefault(registration.reach.brain.module.path, {})
            for state in _states_unsaved_by(registration, registration.reach, registration.saved, asked):
                found.setdefault(id(state.item), state)
    scripts = list(by_script.values())
    for key, state in scripts[0].items() if scripts else ():
        if all(key in other for other in scripts) and not any(_may_save(one, state.item) for one in saved):
            yield state


def _may_save(saved: queries.Saved, item: queries.Item) -> bool:
    return saved.exists and (not saved.closed or item in saved)


def _states_unsaved_by(
    registration: queries.Registration, reach: queries.Reach, saved: queries.Saved, asked: queries.Queries
) -> Iterator[UnsavedState]:
    if not saved.exists or not saved.closed or not _resumes(reach.brain):
        return
    recipe, brain, only = registration.recipe, reach.brain, registration.is_only_script
    for use in reach.item_uses:
        names = ("forward", "__call__") if use.direct else (use.method,)
        is_fit = not use.stages.isdisjoint(_FITTING)
        if is_fit and asked.changes_state(use.item, *names) and use.item not in saved:
            yield UnsavedState(use, recipe, brain, saved, use.certain and only)
    for use in reach.passes("fit", 0, "epoch_counter") if brain.method("fit") is None else ():
        if asked.changes_state(use.item, "__next__") and use.item not in saved:
            yield UnsavedState(use, recipe, brain, saved, only)
    for use in reach.unsaved_optimizers():
        yield UnsavedState(use, recipe, brain, saved, use.certain and only, makes=True)


def _resumes(brain: queries.BrainUse) -> bool:
    """True if a training may resume another one: the framework or the script reads a checkpoint."""
    methods = [method for cls in brain.classes for method in cls.methods.values()]
    functions = (brain.module.body, *brain.module.functions.values(), *methods)
    if any(not _READING.isdisjoint(function.words) for function in functions):
        return True
    is_asked = not brain.replaces("fit") or any(_START in function.words for function in functions)
    return is_asked and not brain.replaces(_START)
