"""Probes of findings: a rule's `probe()` turns a claim into the target to build and run to judge it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.claims import name_at
from modellint.source import PYTHON, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modellint.claims import Claim
    from modellint.graph.python import Function
    from modellint.link.project import Project
    from modellint.source import Place


#: How deep a file lies in the folder of a model at most: templates have a folder of their own.
_LEVELS = 3


@dataclass(frozen=True)
class Target:
    """A target to build: a recipe, or a definition in a Python file (dotted `name`: `Encoder`, `Encoder.forward`).

    `script` is the file that runs a recipe; its imports are available.
    """

    path: Path
    name: str = ""
    script: Path | None = None


@dataclass(frozen=True, eq=False)
class Probe:
    """A claim, and the target whose behaviour judges it.

    If the target alone can't show it, `functions` are those that can, the likeliest first, and `users` are files that
    use the code in question. `files` are contents of a notebook that are written to disk for it.
    """

    target: Target
    claim: Claim
    functions: tuple[Target, ...] = ()
    users: tuple[str, ...] = ()
    files: Mapping[Path, bytes] = field(default_factory=dict)


def recipe_probe(claim: Claim, project: Project) -> Probe | None:
    """A probe of the recipe of a claim, or of one that includes it; None if there is none that loads.

    A configuration in Python is run by itself.
    """
    from modellint.link.recipes.pairing import including, scripts_of

    if kind_of(Path(claim.place.path).name) == PYTHON:
        return file_probe(claim)
    recipe = project.recipe(Path(claim.place.path))
    whole = None if recipe is None else next(iter(including(recipe, project)), None)
    if whole is None:
        return None
    script = next(iter(scripts_of(whole, project).scripts), None)
    return Probe(Target(whole.source.path, script=script), claim)


def file_probe(claim: Claim, name: str = "") -> Probe:
    """A probe of the file of a claim, or of the definition `name` in it."""
    return Probe(Target(Path(claim.place.path), name), claim)


def folder_probe(claim: Claim, project: Project) -> Probe | None:
    """A probe of the model folder that a claim's place lies in; None if it lies in none."""
    from modellint.reading.model_folders import marker_of

    above = list(Path(claim.place.path).parents)[:_LEVELS]
    folder = next((one for one in above if marker_of(one, project.files) is not None), None)
    return None if folder is None else Probe(Target(folder), claim)


def beside_probe(claim: Claim, folder: str = "") -> Probe:
    """A probe of the folder that a claim's file lies in, or of `folder`, a path from there."""
    return Probe(Target(Path(claim.place.path).parent / folder), claim)


def python_probe(claim: Claim, place: Place | None = None) -> Probe | None:
    """A probe of the function or class around `place` (by default the claim's); None if there is none."""
    place = place or claim.place
    name = name_at(claim, place)
    return Probe(Target(Path(place.path), name), claim) if name else None


def called_probe(claim: Claim, project: Project) -> Probe:
    """A probe of the function around a claim; of the file if the place is module-level code, which importing runs."""
    function = function_at(claim, project)
    return file_probe(claim, "" if function is None else function.qualname)


def boundary_probe(
    claim: Claim, places: Iterable[Place], users: Iterable[str] = (), heir: Place | None = None
) -> Probe | None:
    """A probe of the functions around places, the likeliest first, at the ends of their range of inputs.

    Methods of other files are also looked for in the class around `heir`, which may inherit them.
    """
    names = {place: name_at(claim, place) for place in places}
    targets = [Target(Path(place.path), name) for place, name in names.items() if name]
    if heir is not None and (owner := name_at(claim, heir).rpartition(".")[0]):
        path = Path(heir.path)
        methods = [target.name.rpartition(".") for target in targets if target.path != path]
        targets[:0] = [Target(path, f"{owner}.{method}") for cls, _, method in methods if cls]
    found = tuple(dict.fromkeys(targets))
    return Probe(found[0], claim, found, tuple(users)) if found else None


def function_at(claim: Claim, project: Project) -> Function | None:
    """The function around a claim; None if there is none."""
    name, module = name_at(claim, claim.place), project.python(Path(claim.place.path))
    functions = [] if module is None else module.all_functions()
    return next((function for function in functions if function.qualname == name), None)
