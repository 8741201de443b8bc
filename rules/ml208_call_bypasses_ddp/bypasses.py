"""Calls of a module that learns, around the wrapper that lets several processes share its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import Op
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Place
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Functions that set up a process group.
_DISTRIBUTED = frozenset(("ddp_init_group", "init_process_group"))


@dataclass(frozen=True, eq=False)
class Bypass:
    """A call of a recipe's own object that is also an entry of `modules`, in each of `recipes`.

    `entry` is its name there, None if the recipes disagree on it; `brain` is the one that calls it.
    """

    use: queries.ItemUse
    module: ModuleFacts
    brain: queries.BrainUse
    entry: str | None
    recipes: tuple[tuple[Recipe, queries.Root], ...]
    is_certain: bool

    @property
    def place(self) -> Place:
        return self.use.place


def bypassing_calls(module: ModuleFacts, project: Project) -> tuple[Bypass, ...]:
    """The calls of a script in which a module learns and its distributed wrapper is left out."""
    return project.once(("bypassing calls", module.path), lambda: tuple(_bypasses(module, project)))


def _bypasses(module: ModuleFacts, project: Project) -> Iterator[Bypass]:
    script = queries.script(module, project)
    if not script.recipes or not _is_distributed(script):
        return
    uses: dict[Place, tuple[queries.ItemUse, queries.BrainUse]] = {}
    recipes: dict[Place, list[tuple[Recipe, queries.Root]]] = {}
    certain: set[Place] = set()
    asked = [queries.about(recipe, project) for recipe in script.recipes]
    registrations = [(one, registration) for one in asked for registration in one.registrations(module)]
    for one, registration in registrations:
        for use, root in _raw_calls(registration, one):
            assert registration.reach is not None
            recipe = one.recipe
            uses.setdefault(use.place, (use, registration.reach.brain))
            if all(known is not recipe for known, _ in recipes.setdefault(use.place, [])):
                recipes[use.place].append((recipe, root))
            if use.certain and not _is_called_properly(root, registration):
                certain.add(use.place)
    for place, (use, brain) in uses.items():
        names = {root.text for _, root in recipes[place]}
        entry = names.pop().removeprefix("modules[").removesuffix("]") if len(names) == 1 else None
        is_safe = all(
            _has_entry(registration, entry) for _, registration in registrations if _calls(registration, place)
        )
        yield Bypass(use, module, brain, entry if is_safe else None, tuple(recipes[place]), place in certain)


def _raw_calls(
    registration: queries.Registration, asked: queries.Queries
) -> Iterator[tuple[queries.ItemUse, queries.Root]]:
    for use in registration.reach.item_uses if registration.reach is not None else ():
        if use.entry is not None or not use.direct or not use.learns:
            continue
        for root in registration.modules.roots:
            if root.item is use.item and _is_wrapped(root.item, registration, asked):
                yield use, root
                break


def _is_wrapped(item: queries.Item, registration: queries.Registration, asked: queries.Queries) -> bool:
    """True if an entry of `modules` has parameters to train, so that the framework wraps it."""
    held = (status for status in registration.layers if asked.holds(item, status.item))
    return any(not status.may_be_frozen and status.has_parameters for status in held)


def _is_called_properly(root: queries.Root, registration: queries.Registration) -> bool:
    """True if the wrapper is called as well: then it synchronises gradients, by whatever call they come."""
    uses = registration.reach.item_uses if registration.reach is not None else ()
    return any(use.item is root.item and use.entry is not None and use.learns for use in uses)


def _has_entry(registration: queries.Registration, entry: str | None) -> bool:
    return any(root.text == f"modules[{entry}]" for root in registration.modules.roots)


def _calls(registration: queries.Registration, place: Place) -> bool:
    return registration.reach is not None and any(use.place == place for use in registration.reach.item_uses)


def _is_distributed(script: queries.ScriptQueries) -> bool:
    """True if a script sets up a process group."""
    return any(name.rpartition(".")[2] in _DISTRIBUTED for name in script.callees)


def receiver_of(use: queries.ItemUse) -> Value | None:
    """`self.hparams.x` of the call `self.hparams.x(…)`, where it is written so; None for anything else."""
    callee = None if use.call is None else use.call.callee
    if callee is None or callee.op not in (Op.ATTR, Op.INDEX) or use.item.kind is not queries.ItemKind.NEW:
        return None
    return callee if callee.data != "forward" else callee.args[0]
