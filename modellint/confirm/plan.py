"""What has to be run to confirm a finding, and what can be run together.

A rule's `probe()` turns one of its findings into a `Probe`: what to build and what to observe. Probes of one target
share a child process, so that a recipe is built once however many findings it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.finding import Confidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modellint.finding import Finding
    from modellint.graph.python import Class, Function
    from modellint.link.project import Project
    from modellint.link.recipes.scripts import BrainUse
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


def recipe_probe(
    finding: Finding, project: Project, kind: str, place: Place | None = None, **data: Any
) -> Probe | None:
    """A probe of the recipe that `place` is in (the finding's own place, if it is not given), or that includes it.

    None if none of them loads.
    """
    from modellint.link.recipes.pairing import including, scripts_of

    recipe = project.recipe(Path((place or finding.place).path))
    whole = None if recipe is None else next(iter(including(recipe, project)), None)
    if whole is None:
        return None
    script = next(iter(scripts_of(whole, project).scripts), None)
    return Probe(Target(whole.source.path, script=script), kind, data)


def config_probe(finding: Finding, project: Project, kind: str, **data: Any) -> Probe | None:
    """A probe of the plain configuration that a finding is in, None if that is a recipe.

    None for a finding of low confidence too: what is in doubt there is what the program does to the configuration.
    """
    if finding.confidence is Confidence.LOW:
        return None
    config = project.config(Path(finding.path))
    return None if config is None else Probe(Target(config.source.path), f"config-{kind}", data)


def loading_probe(finding: Finding, project: Project, place: Place, instead: str, **data: Any) -> Probe | None:
    """A probe of whether a recipe loads, and whether it does with something else `instead` of what is at `place`."""
    return recipe_probe(finding, project, "recipe-loading", place, edits=[[*spot(place), instead]], **data)


def reading_probe(finding: Finding, project: Project, *, is_override: bool) -> Probe | None:
    """A probe of whether a recipe has the key that a script reads or overrides.

    The recipe is at the first related place, if there is one. None for a finding of low confidence: what is in doubt
    there is if the script asks.
    """
    if finding.confidence is Confidence.LOW:
        return None
    recipe = finding.related[0].place if finding.related else finding.place
    return recipe_probe(finding, project, "recipe-reading", recipe, key=finding.symbol, is_override=is_override)


def optimizers_probe(finding: Finding, project: Project, brain: BrainUse, made: Place | None = None) -> Probe | None:
    """A probe of the optimizers that a Brain makes: do they get the parameters of what the finding is about?

    With the place where one is `made`: does the Brain hand that one to the checkpointer?
    """
    method = brain.method("init_optimizers")
    if finding.confidence is Confidence.LOW or not brain.classes or method is None:
        return None
    data: dict[str, Any] = {"key": finding.symbol, "script": brain.module.path, "brain": brain.classes[0].qualname}
    if made is not None:
        data["makes"] = spot(made)
    return recipe_probe(finding, project, "recipe-optimisation", **data)


def python_probe(
    finding: Finding, project: Project, kind: str, place: Place | None = None, **data: Any
) -> Probe | None:
    """A probe of the function or class that `place` stands in (the finding's own place, if it is not given)."""
    target = _target_at(place or finding.place, project)
    if target is None:
        return None
    return Probe(target, kind, {"name": target.name, "place": spot(finding.place), **data})


def boundary_probe(
    finding: Finding, project: Project, claim: str, places: Iterable[Place], lookup: Place | None = None, **data: Any
) -> Probe | None:
    """A probe of the functions that some places stand in, the likeliest first, at the ends of what they are made for.

    `claim` is one of "positions", "step", "table", "sentinel", "grid" (see `worker.boundaries`); `lookup` is the place
    that can fail.
    """
    targets = list(dict.fromkeys(target for place in places if (target := _target_at(place, project)) is not None))
    if not targets:
        return None
    functions = [[str(target.path), target.name] for target in targets]
    known = {} if lookup is None else {"lookup": spot(lookup)}
    place = spot(finding.place)
    return Probe(
        targets[0],
        "boundaries",
        {"claim": claim, "place": place, "functions": functions, "observe": True, **known, **data},
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


def spot(place: Place) -> list[Any]:
    """A place as the worker reads it."""
    span = place.span
    return [place.path, span.line, span.column, span.end_line, span.end_column]


def registration_probe(finding: Finding, project: Project) -> Probe | None:
    """A probe of an attribute, named by a finding as `Class.attribute`: is what it holds registered?

    None for a finding of low confidence: what is in doubt there is if the attribute is meant to be registered.
    """
    if finding.confidence is Confidence.LOW:
        return None
    owner, _, attribute = finding.symbol.rpartition(".")
    probe = python_probe(finding, project, "registration", owner=owner, attribute=attribute)
    return None if probe is None else replace(probe, target=replace(probe.target, name=owner))


def movement_probe(finding: Finding, project: Project) -> Probe | None:
    """A probe of a tensor, named by a finding as `Class.attribute` and used at its first related place."""
    owner, _, attribute = finding.symbol.rpartition(".")
    use = spot(finding.related[0].place)
    probe = python_probe(finding, project, "movement", owner=owner, attribute=attribute, use=use)
    return None if probe is None else replace(probe, target=replace(probe.target, name=owner))


def grouped(probes: Iterable[tuple[int, Probe]]) -> list[Group]:
    """Probes that can share a process, in the order of their first finding."""
    groups: dict[Target, list[tuple[int, Probe]]] = {}
    for number, probe in probes:
        groups.setdefault(probe.target, []).append((number, probe))
    return [Group(target, tuple(found)) for target, found in groups.items()]
