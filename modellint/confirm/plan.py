"""What has to be run to confirm a finding, and what can be run together.

A rule's `probe()` turns one of its findings into a `Probe`: what to build and what to observe. Probes of one target
share a child process, so that a recipe is built once however many findings it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modellint.finding import Finding
    from modellint.link.project import Project


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
    """One observation: its `kind` (a name in `worker.probes`), and what it needs to know."""

    target: Target
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Probes of one target, by the number of the finding that each belongs to."""

    target: Target
    probes: tuple[tuple[int, Probe], ...]


def recipe_probe(finding: Finding, project: Project, kind: str, **data: Any) -> Probe | None:
    """A probe of the recipe that a finding is in, or that includes the file it is in; None if none of them loads."""
    from modellint.link.recipes.pairing import including, scripts_of

    recipe = project.recipe(Path(finding.path))
    whole = None if recipe is None else next(iter(including(recipe, project)), None)
    if whole is None:
        return None
    script = next(iter(scripts_of(whole, project).scripts), None)
    return Probe(Target(whole.source.path, script=script), kind, data)


def grouped(probes: Iterable[tuple[int, Probe]]) -> list[Group]:
    """Probes that can share a process, in the order of their first finding."""
    groups: dict[Target, list[tuple[int, Probe]]] = {}
    for number, probe in probes:
        groups.setdefault(probe.target, []).append((number, probe))
    return [Group(target, tuple(found)) for target, found in groups.items()]
