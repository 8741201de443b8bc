"""The configuration that a file is a part of, also where no program says so.

The command line may name the primary configuration of a program, and a launcher may be none that is known: then it is
the nearest one above the file that chooses it.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from modellint.dialects.apps import YAML, App, name_in, programs_of
from modellint.dialects.placing import Composed, composed_with, composition
from modellint.graph.immutable import replace
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from modellint.link.project import Project

#: How many primary configurations are tried, how many files of a folder are read for them, and folders above a file.
_MOST, _MOST_READ, _LEVELS = 40, 200, 5
#: How many compositions with a file are compared.
_MOST_COMPARED = 6
_LIST = re.compile(rb"^defaults:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*-[ \t]", re.MULTILINE)


def whole_of(path: Path, project: Project) -> Composed | None:
    """The configuration that a program composes with a file; None if none is known to.

    Where no primary configuration is named, it is the file itself, or the first one in the folder that chooses it.
    """
    return composed_with(path, project) or project.once(("whole of", path), lambda: _find(path, project))


def has_list_above(path: Path, project: Project) -> bool:
    """True if a file in a folder around a YAML file has a defaults list."""
    return path.suffix == YAML and any(_listing(folder, project) for folder in _around(path, project))


def _find(path: Path, project: Project) -> Composed | None:
    """The first composition that has a file: of the programs without a name, then in the folders around the file."""
    programs = [app for app in programs_of(path, project) if app.name is None and app.folder is not None]
    start = Place(path.as_posix(), Span(1, 1, 1, 1))
    own, *above = _around(path, project) or (path.parent,)
    above += [own] if path.name.removesuffix(YAML) in _listing(own, project) else []
    programs += (App(path, (start, start), folder, None) for folder in above)
    for app in programs:
        found = (
            islice(_compositions_with(app, app.folder, path, project), _MOST_COMPARED) if app.folder is not None else ()
        )
        best = _fewest_gaps(found, path)
        if best is not None:
            return best
    return None


def _fewest_gaps(found: Iterable[Composed], path: Path) -> Composed | None:
    """The composition in which most references of a file have a target: the first one of those in which all have."""
    best: tuple[int, Composed] | None = None
    for one in found:
        run = one.composition.configuration
        _ = run.root_item  # which follows the interpolations
        gaps = run.gaps.values()
        count = sum(asked.recipe.file == path for gap in gaps for asked in gap.asked.values())
        if best is None or count < best[0]:
            best = count, one
        if not count:
            break
    return None if best is None else best[1]


def _around(path: Path, project: Project) -> list[Path]:
    root = project.options.root
    return [folder for folder in path.parents[:_LEVELS] if folder == root or root in folder.parents]


def _compositions_with(app: App, folder: Path, path: Path, project: Project) -> Iterator[Composed]:
    """The compositions of a program with a file: by default, and then those with the file chosen in its group."""
    own = name_in(path, folder)
    group, _, last = own.rpartition("/")
    programs = [replace(app, name=name) for name in _primaries(folder, own, project)]
    for one in programs:
        plain = composition(one, project)
        if plain is not None and plain.has(path):
            yield Composed(one, plain)
    for one in programs if group else ():
        plain = composition(one, project)
        keys = [key for key in plain.chosen if key.partition("@")[0] == group] if plain is not None else []
        chosen = composition(one, project, tuple((key, last) for key in keys)) if keys else None
        if chosen is not None and chosen.has(path):
            yield Composed(one, chosen)


def _primaries(folder: Path, own: str, project: Project) -> list[str]:
    """The names of files in a folder that may be primary configurations: the file itself, or those with a list."""
    return [own] if "/" not in own else list(_listing(folder, project))


def _listing(folder: Path, project: Project) -> tuple[str, ...]:
    """The names of the files in a folder that have a defaults list."""

    def find() -> tuple[str, ...]:
        names = [name for name in project.files.listdir(folder) if name.endswith(YAML)][:_MOST_READ]
        found = (name for name in names if _LIST.search(project.files.read(folder / name) or b""))
        return tuple(name.removesuffix(YAML) for name in found)[:_MOST]

    return project.once(("lists in", folder), find)
