"""The origin of facts about packages: the project, its interpreter, or the shipped facts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from modellint import knowledge
from modellint.link.project import Project, ProjectOptions
from modellint.reading.paths import shown

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.config import Settings

#: Packages whose shipped facts are as complete as their source.
_AS_SHIPPED = frozenset(("torch",))


class Known(NamedTuple):
    """A package, its known release, and the folder it is read from; None if the shipped facts are used.

    `note` says which one is meant where it is neither of them.
    """

    name: str
    release: str
    folder: Path | None
    note: str = ""

    @property
    def source(self) -> str:
        """The origin of the package's facts: an installed release, or a shipped one."""
        return self.note or ("built-in facts" if self.folder is None else "installed")

    def __str__(self) -> str:
        return f"{self.name} {self.release} ({self.source})".replace("  ", " ")


def known_packages(settings: Settings) -> list[Known]:
    """The packages with built-in facts, as modellint knows them for a project."""
    project = Project(ProjectOptions(settings.root, settings.python))
    return [_known_package(name, project) for name in knowledge.PACKAGES]


def _known_package(name: str, project: Project) -> Known:
    folder = next((folder for folder in project.names.path.site_packages if os.path.isdir(folder / name)), None)
    if name in _AS_SHIPPED:
        return Known(name, knowledge.shipped_release(name), None)
    own = project.options.root / name
    if project.files.exists(own / "__init__.py"):
        return Known(name, "", own, "the project's own copy")
    if folder is None:
        return _required_release(name, project) or Known(name, knowledge.shipped_release(name), None)
    return Known(name, release_in(folder, name) or "of an unknown release", folder)


def _required_release(name: str, project: Project) -> Known | None:
    """The release that a project requires, if its facts are not shipped; None if they are, or if it requires none."""
    from modellint.link.requirements import required

    wanted = required(name, project)
    if wanted is None or wanted.is_described:
        return None
    from modellint.knowledge.catalogue import catalogue

    known, origin = catalogue(name), shown(wanted.origin)
    if wanted.specifiers is None:
        return Known(name, "", None, f"a fork or revision of it, says {origin}: its names are not judged")
    earlier = known.earlier if known is not None else None
    if earlier is not None and wanted.admits_any(earlier.releases):
        return Known(name, earlier.told, None, f"its names and parameters, as {origin} asks for one of them")
    return Known(name, "", None, f"a release that is not known, says {origin}: its names are not judged")


def release_in(folder: Path, name: str) -> str | None:
    """The release of a package that is installed in a folder, by the name of its metadata."""
    for entry in os.listdir(folder):
        distribution, _, rest = entry.partition("-")
        if distribution.lower() == name and rest.endswith((".dist-info", ".egg-info")):
            return rest.rpartition(".")[0].partition("-")[0]
    return None
