"""What has to be run to confirm a finding, and what can be run together.

A rule's `probe()` turns the claim of a finding into a `Probe`: what to build and what to observe. Probes of one target
share a child process, so that a recipe is built once however many findings it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modellint.claims import Claim
    from modellint.claims.layers import LeftBehind, NotRegistered
    from modellint.claims.recipes import NotLoaded, NotMade, NotSaved, NotTrained, OptimizerNotSaved
    from modellint.graph.python import Class, Function
    from modellint.link.project import Project
    from modellint.source import Place


@dataclass(frozen=True)
class Target:
    """What is built: a recipe, or something that a Python file defines (`name`, dotted: `Encoder`, `Encoder.forward`).

    `script` is the file that runs a recipe; what it imports can be imported.
    """

    path: Path
    name: str = ""
    script: Path | None = None


@dataclass(frozen=True, eq=False)
class Probe:
    """One observation: its `kind` (a name in `worker.probes`), and what it needs to know.

    `files` are contents of a notebook that have to be laid out for it.
    """

    target: Target
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[Path, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Probes of one target, by the number of the finding that each belongs to."""

    target: Target
    probes: tuple[tuple[int, Probe], ...]


def recipe_probe(place: Place, project: Project, kind: str, **data: Any) -> Probe | None:
    """A probe of the recipe that a place is in, or that includes it; None if none of them loads."""
    from modellint.link.recipes.pairing import including, scripts_of

    recipe = project.recipe(Path(place.path))
    whole = None if recipe is None else next(iter(including(recipe, project)), None)
    if whole is None:
        return None
    script = next(iter(scripts_of(whole, project).scripts), None)
    return Probe(Target(whole.source.path, script=script), kind, data)


def config_probe(place: Place, project: Project, kind: str, **data: Any) -> Probe | None:
    """A probe of the plain configuration that a place is in, None if that is a recipe."""
    config = project.config(Path(place.path))
    return None if config is None else Probe(Target(config.source.path), f"config-{kind}", data)


def loading_probe(claim: NotLoaded, project: Project) -> Probe | None:
    """A probe of whether a recipe loads, and whether it does with something else instead of what is at a place."""
    return recipe_probe(claim.place, project, "recipe-loading", edits=[[*claim.place.as_list(), claim.instead]])


def making_probe(claim: NotMade, project: Project) -> Probe | None:
    """A probe of whether a recipe loads, and with it what a tag names."""
    data = {"edits": [[*claim.place.as_list(), ""]], "about": claim.target, "says": claim.says, "keys": [claim.key]}
    return recipe_probe(claim.place, project, "recipe-loading", **data)


def saving_probe(claim: NotSaved, project: Project) -> Probe | None:
    """A probe of what a checkpointer saves."""
    return recipe_probe(claim.place, project, "recipe-saving", key=claim.key, checkpointer=claim.checkpointer)


def optimizers_probe(claim: NotTrained | OptimizerNotSaved, project: Project, **data: Any) -> Probe | None:
    """A probe of the optimizers that a Brain makes."""
    return recipe_probe(claim.place, project, "recipe-optimisation", script=claim.script, brain=claim.brain, **data)


def python_probe(claim: Claim, project: Project, kind: str, place: Place | None = None, /, **data: Any) -> Probe | None:
    """A probe of the function or class that `place` stands in (the claim's own place, if it is not given)."""
    target = _target_at(place or claim.place, project)
    if target is None:
        return None
    return Probe(target, kind, {"name": target.name, "place": claim.place.as_list(), **data})


def class_probe(claim: NotRegistered | LeftBehind, project: Project, kind: str, /, **data: Any) -> Probe | None:
    """A probe of an attribute of a class."""
    probe = python_probe(claim, project, kind, owner=claim.owner, attribute=claim.attribute, **data)
    return None if probe is None else replace(probe, target=replace(probe.target, name=claim.owner))


def registration_probe(claim: NotRegistered, project: Project) -> Probe | None:
    """A probe of an attribute: is what it holds registered?"""
    return class_probe(claim, project, "registration")


def boundary_probe(
    claim: Claim, project: Project, kind: str, places: Iterable[Place], lookup: Place | None = None, **data: Any
) -> Probe | None:
    """A probe of the functions that some places stand in, the likeliest first, at the ends of what they are made for.

    `kind` is one of "positions", "step", "table", "sentinel", "grid" (see `worker.boundaries`); `lookup` is the place
    that can fail.
    """
    targets = list(dict.fromkeys(target for place in places if (target := _target_at(place, project)) is not None))
    if not targets:
        return None
    functions = [[str(target.path), target.name] for target in targets]
    known = {} if lookup is None else {"lookup": lookup.as_list()}
    place = claim.place.as_list()
    return Probe(
        targets[0],
        "boundaries",
        {"claim": kind, "place": place, "functions": functions, "observe": True, **known, **data},
    )


def function_at(place: Place, project: Project) -> Function | None:
    """The innermost function that a place stands in."""
    module = project.python(Path(place.path))
    around = [] if module is None else [f for f in module.all_functions() if f.line <= place.span.line <= f.end_line]
    return max(around, key=lambda function: function.line, default=None)


def _target_at(place: Place, project: Project) -> Target | None:
    """The innermost class or function that a place stands in."""
    module = project.python(Path(place.path))
    if module is None:
        return None
    definitions: list[Class | Function] = [*module.classes.values(), *module.all_functions()]
    around = [d for d in definitions if d.line <= place.span.line <= d.end_line]
    if not around:
        return None
    return Target(Path(place.path), max(around, key=lambda definition: definition.line).qualname)


def grouped(probes: Iterable[tuple[int, Probe]]) -> list[Group]:
    """Probes that can share a process, in the order of their first finding."""
    groups: dict[Target, list[tuple[int, Probe]]] = {}
    for number, probe in probes:
        groups.setdefault(probe.target, []).append((number, probe))
    return [Group(target, tuple(found)) for target, found in groups.items()]
