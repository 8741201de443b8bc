"""What has to be run to confirm a finding: a rule's `probe()` turns its claim into what to build to judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.claims import name_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modellint.claims import Claim
    from modellint.graph.python import Function
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
    """A claim to be judged by what a target does.

    Where the target alone does not tell it, `functions` are those in which it can be seen, the likeliest first, and
    `users` are files that use what it is about. `files` are contents of a notebook that have to be laid out for it.
    """

    target: Target
    claim: Claim
    functions: tuple[Target, ...] = ()
    users: tuple[str, ...] = ()
    files: Mapping[Path, bytes] = field(default_factory=dict)


def recipe_probe(claim: Claim, project: Project) -> Probe | None:
    """A probe of the recipe that a claim is about, or that includes it; None if none of them loads."""
    from modellint.link.recipes.pairing import including, scripts_of

    recipe = project.recipe(Path(claim.place.path))
    whole = None if recipe is None else next(iter(including(recipe, project)), None)
    if whole is None:
        return None
    script = next(iter(scripts_of(whole, project).scripts), None)
    return Probe(Target(whole.source.path, script=script), claim)


def file_probe(claim: Claim, name: str = "") -> Probe:
    """A probe of the file that a claim is about, or of something that it defines."""
    return Probe(Target(Path(claim.place.path), name), claim)


def python_probe(claim: Claim, place: Place | None = None) -> Probe | None:
    """A probe of the function or class that `place` stands in (the claim's own place, if it is not given)."""
    place = place or claim.place
    name = name_at(claim, place)
    return Probe(Target(Path(place.path), name), claim) if name else None


def called_probe(claim: Claim, project: Project) -> Probe:
    """A probe of the function that a claim stands in; of the file, where importing it is what reaches the place."""
    function = function_at(claim, project)
    return file_probe(claim, "" if function is None else function.qualname)


def boundary_probe(claim: Claim, places: Iterable[Place], users: Iterable[str] = ()) -> Probe | None:
    """A probe of the functions that places stand in, the likeliest first, at the ends of what they are made for."""
    names = {place: name_at(claim, place) for place in places}
    targets = tuple(dict.fromkeys(Target(Path(place.path), name) for place, name in names.items() if name))
    return Probe(targets[0], claim, targets, tuple(users)) if targets else None


def function_at(claim: Claim, project: Project) -> Function | None:
    """The function that a claim stands in."""
    name, module = name_at(claim, claim.place), project.python(Path(claim.place.path))
    functions = [] if module is None else module.all_functions()
    return next((function for function in functions if function.qualname == name), None)
