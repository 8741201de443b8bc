"""Searches a project for files that mention a word, unless it has too many files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.reading.mentioning import MAX_FILES, found_below

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project


def mentioning(project: Project, near: ModuleFacts, *words: str) -> Iterator[ModuleFacts]:
    """The files of the project around `near` that mention all of `words`, each read when its turn comes.

    A word may be `class Name` or `def name`, for the files that define it, `base Name` for those that may derive a
    class from it, `. name` for those that speak of the attribute of anything but `self`, or `' name` for those that
    have it in quotes.
    """
    modules = map(project.python, paths_mentioning(project, near, *words))
    return (module for module in modules if module is not None)


def paths_mentioning(project: Project, near: ModuleFacts, *words: str) -> tuple[Path, ...]:
    """The paths of the files that mention all of `words`, without parsing them."""
    return project.files.mentioning(root_of(project, near.file), *words)


def is_searched(project: Project, near: ModuleFacts) -> bool:
    """True if the project around a file has few enough files to be searched for words."""
    return project.files.is_searched(root_of(project, near.file))


def root_of(project: Project, file: Path) -> Path:
    """The root of the project that a file belongs to: the configured one, or the folder above its package."""
    if project.options.root in file.parents:
        return project.options.root
    folder = file.parent
    while folder.parent != folder and project.files.exists(folder.parent / "__init__.py"):
        folder = folder.parent
    return folder


def files_below(project: Project, root: Path, suffixes: tuple[str, ...] = (".py",)) -> list[Path]:
    """The Python files below a folder, environments and hidden folders left out; none if there are too many."""
    found = found_below(project.files, root, suffixes)
    return found if len(found) <= MAX_FILES else []
