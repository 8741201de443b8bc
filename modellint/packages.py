"""Where what is known of packages comes from: the project's interpreter, or the facts that are shipped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from modellint import knowledge
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from modellint.config import Settings

#: Packages of which the shipped facts say all that source would.
_AS_SHIPPED = frozenset(("torch",))


class Known(NamedTuple):
    """A package, the release that is known, and the folder that it is read in; None if the shipped facts are used."""

    name: str
    release: str
    folder: Path | None

    def __str__(self) -> str:
        return f"{self.name} {self.release}" + (" (shipped facts)" if self.folder is None else " (installed)")


def known_packages(settings: Settings) -> list[Known]:
    """The packages that modellint knows by heart, as they are known for a project."""
    folders = Project(ProjectOptions(settings.root, settings.python)).names.site_packages
    return [_known(name, folders) for name in knowledge.PACKAGES]


def _known(name: str, folders: Iterable[Path]) -> Known:
    folder = next((folder for folder in folders if os.path.isdir(folder / name)), None)
    if folder is None or name in _AS_SHIPPED:
        return Known(name, knowledge.shipped_release(name), None)
    return Known(name, release_in(folder, name) or "of an unknown release", folder)


def release_in(folder: Path, name: str) -> str | None:
    """The release of a package that is installed in a folder, by the name of its metadata."""
    for entry in os.listdir(folder):
        distribution, _, rest = entry.partition("-")
        if distribution.lower() == name and rest.endswith((".dist-info", ".egg-info")):
            return rest.rpartition(".")[0].partition("-")[0]
    return None
