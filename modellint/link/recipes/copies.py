"""Copies of the recipe, with SpeechBrain's head, and of the script that trainings leave in their results.

Problems are reported for the originals only.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.link.searched import files_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.link.project import Project

#: SpeechBrain's name for the copy of the recipe, and the files that it writes beside it.
_COPY = "hyperparams.yaml"
_LOGS = frozenset(("log.txt", "env.log"))
_HEAD = re.compile(rb"# Generated \d{4}-\d\d-\d\d from:\r?\n# ([^\n]+)\n# yamllint disable")
_ALIKE = 0.8
_SUFFIXES = (".yaml", ".yml")


def copied_from(file: Path, project: Project) -> Path | None:
    """The original of a copy in the results of a training; None for any other file.

    If the original is gone, the first of several copies stands for it.
    """
    if not project.files.exists(file.parent / _COPY) or _source(file.parent / _COPY, project) is None:
        return None
    return project.once(("copied from", file), lambda: _find(file, project))


def _find(file: Path, project: Project) -> Path | None:
    source = _source(file, project) if file.name == _COPY else None
    if source is not None:
        return _first(file, _recipes(file, source, project))
    data = project.files.read(file)
    same = (path for path in _files_named(file.name, (file.suffix,), project) if project.files.read(path) == data)
    return _first(file, same)


def _first(file: Path, others: Iterable[Path]) -> Path | None:
    """The first of the files; None if that is `file` itself, or there are none."""
    first = next(iter(others), None)
    return None if first == file else first


def _recipes(copy: Path, source: str, project: Project) -> Iterator[Path]:
    """The original recipes, which share the copy's source name and most keys, then other copies of the same source."""
    for path in _files_named(Path(source).name, _SUFFIXES, project):
        if _source(path, project) is None and _share(copy, path, project) >= _ALIKE:
            yield path
    yield from (path for path in _files_named(_COPY, _SUFFIXES, project) if _source(path, project) == source)


def _share(copy: Path, original: Path, project: Project) -> float:
    """The share of a copy's keys that the original has."""
    recipes = [project.recipe(path) for path in (copy, original)]
    keys = [set() if recipe is None else set(recipe.keys) for recipe in recipes]
    return len(keys[0] & keys[1]) / max(len(keys[0]), 1)


def _files_named(name: str, suffixes: tuple[str, ...], project: Project) -> list[Path]:
    """The files of the project with a name, those outside of results first."""

    def find() -> list[Path]:
        paths = [path for path in _project_files(suffixes, project) if path.name == name]
        return sorted(paths, key=lambda path: (_source(path.parent / _COPY, project) is not None, path))

    return project.once(("called", name), find)


def _project_files(suffixes: tuple[str, ...], project: Project) -> list[Path]:
    root = project.options.root
    return project.once(("files", suffixes), lambda: files_below(project, root, suffixes))


def _source(file: Path, project: Project) -> str | None:
    """The original path in the head of a recipe copied into the results of a training; None for other files."""

    def read() -> str | None:
        if not project.files.exists(file) or _LOGS.isdisjoint(project.files.listdir(file.parent)):
            return None
        head = _HEAD.match(project.files.read(file) or b"")
        return None if head is None else head[1].decode("utf-8", "replace").strip()

    return project.once(("copy of", file), read)
