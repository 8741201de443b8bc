"""Names of described libraries in a project: what they stand for in the releases that the project asks for.

`look_up` answers for a full name, `derives` for a class of the project or of a library. The facts are those of
`knowledge/libraries.py`. Where the project has a library's source, in its own tree or in its environment, that is read
instead, and nothing here is asked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.knowledge import libraries
from modellint.knowledge.libraries import Absent as Absent
from modellint.knowledge.libraries import Found as Found
from modellint.link.names import DefinedClass, External
from modellint.link.requirements import required

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.definitions import Definition
    from modellint.link.linked import Linked
    from modellint.link.project import Project

#: A release newer than all.
_FUTURE = "9999"
#: Through how many classes of the project a class is followed.
_MAX_STEPS = 40


def look_up(name: str, project: Linked) -> Found | Absent | None:
    """The definition of a full name of a library in the releases that the project asks for; without a wish, in any.

    None if the name is of no described library, if the project asks for releases that are not described, or if it is
    not known whether the library has the name. Raises nothing for names that are no names.
    """
    home = libraries.library_of(name)
    if home is None:
        return None

    def find() -> Found | Absent | None:
        wanted = releases(home.distribution, project)
        return None if not wanted else libraries.find(name, wanted)

    return project.once(("library name", name), find)


def releases(distribution: str, project: Linked) -> tuple[str, ...]:
    """The described releases of a library that count for a project, the newest first; none if others do.

    All, if it asks for none. For a release between two described ones, both of these.
    """
    return project.once(("library releases", distribution), lambda: _releases(distribution, project))


def is_pinned(distribution: str, project: Linked) -> bool:
    """True if the project constrains the releases of a library."""
    wanted = required(distribution, project)
    return wanted is not None and wanted.is_particular


def _releases(distribution: str, project: Linked) -> tuple[str, ...]:
    known = libraries.library(distribution).releases
    wanted = required(distribution, project)
    if wanted is None or not is_pinned(distribution, project):
        return known
    admitted = tuple(release for release in known if wanted.admits_any((release,)))
    return admitted or around(wanted.named_releases, known)


def around(named: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """The described releases right before and behind some others; none if one of these is newer or older than all."""
    from packaging.version import InvalidVersion, Version

    try:
        versions = sorted(map(Version, named))
    except InvalidVersion:
        return ()
    if not versions:
        return ()
    before = [one for one in known if Version(one) <= versions[0]]
    behind = [one for one in known if Version(one) >= versions[-1]]
    if not before or not behind:
        return ()
    low, high = known.index(before[0]), known.index(behind[-1])
    return known[high : low + 1]


def installed_release(distribution: str, project: Project) -> str:
    """The release of a library in the project's environment, by its metadata; empty if there is none."""
    stem = re.sub(r"[-_.]+", "_", distribution)
    for folder in project.names.path.packages:
        for entry in project.files.listdir(folder):
            name, _, rest = entry.partition("-")
            if rest.endswith(".dist-info") and re.sub(r"[-_.]+", "_", name.lower()) == stem:
                return rest.removesuffix(".dist-info")
    return ""


def as_installed(name: str, project: Project) -> Found | None:
    """The definition of a name in the release that is installed, if that one is described; else None."""
    home = libraries.library_of(name)
    release = installed_release(home.distribution, project) if home is not None else ""
    if home is None or release not in libraries.library(home.distribution).releases:
        return None
    found = libraries.find(name, (release,))
    return found if isinstance(found, Found) else None


def derives(name: str, base: str, near: Path, project: Project) -> bool | None:
    """True if the class with an absolute name, as the file `near` would import it, derives from the class `base`.

    `base` is the full name of a class of a described library (`lightning.pytorch.Callback`), which counts as well.
    Classes of the project are followed by their source. None if a class on the way is not known.
    """
    return _derives(project.names.absolute(name, near), name, base, project)


def _derives(definition: Definition | None, name: str, base: str, project: Project) -> bool | None:
    pending, is_known = [definition], True
    for at, one in enumerate(pending):
        answer: bool | None = None
        if isinstance(one, DefinedClass):
            model = project.classes.model(one.cls)
            if at < _MAX_STEPS:
                pending += model.facts.bases
            answer = _same(f"{one.cls.module.name}.{one.cls.qualname}", base, project)
        elif isinstance(one, External):
            answer = _of_library(one.name, base, project)
        if answer:
            return True
        is_known &= answer is False
    return False if is_known else None


def _same(name: str, base: str, project: Project) -> bool:
    """True if a class that can be read is the one that the library calls `base`."""
    found = look_up(base, project)
    return name in (base, found.name if isinstance(found, Found) else base)


def _of_library(name: str, base: str, project: Project) -> bool | None:
    if libraries.library_of(name) is None:
        top = name.partition(".")[0]
        return False if top in ("builtins", "abc", "typing", "torch") else None
    home = libraries.library_of(name)
    assert home is not None
    return libraries.derives(name, base, releases(home.distribution, project))
