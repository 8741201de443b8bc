"""Queries about the files of a project: which of them mention words, and what kind of file one is.

The project around a file is the configured root, or the folder above its package. Files are searched for words before
any of them is parsed; a project of too many files is not searched, and then no file mentions anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.link import imports, searched
from modellint.link.calls import doubts
from modellint.link.values import callers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.flow.domain import Site
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event
    from modellint.link.project import Project


def is_searchable(near: ModuleFacts, project: Project) -> bool:
    """True if the project around a file has few enough files to be searched for words."""
    return searched.is_searched(project, near)


def project_root(near: ModuleFacts, project: Project) -> Path:
    """The root of the project that a file belongs to."""
    return searched.root_of(project, near.file)


def program_folder(near: ModuleFacts, project: Project) -> Path:
    """The nearest folder above a file that holds a script that starts it, and all files that imports connect with it.

    It is the root of the project where the repository holds no other program.
    """
    return imports.program_folder(near, project)


def is_apart(module: ModuleFacts, project: Project) -> bool:
    """True if a file is a script that imports no other file of the project, and that no other file imports."""
    return imports.is_apart(module, project)


def files_mentioning(near: ModuleFacts, project: Project, *words: str) -> Iterator[ModuleFacts]:
    """The files of the project around `near` that mention all of `words`, each read when its turn comes.

    A word may be `class Name` or `def name`, for the files that define it, `. name` for those that speak of the
    attribute of anything but `self`, or `' name` for those that have it in quotes.
    """
    return searched.mentioning(project, near, *words)


def paths_mentioning(near: ModuleFacts, project: Project, *words: str) -> tuple[Path, ...]:
    """The paths of the files that `files_mentioning` would read; none of them is parsed."""
    return searched.paths_mentioning(project, near, *words)


def is_mentioned_elsewhere(near: ModuleFacts, project: Project, *words: str) -> bool:
    """True if a file of the project other than `near` mentions all of `words`."""
    return any(path != near.file for path in paths_mentioning(near, project, *words))


def paths_with_suffix(near: ModuleFacts, project: Project, suffix: str) -> list[Path]:
    """The files of the project with names that end so (`.cu`), environments and hidden folders left out."""
    return searched.files_below(project, project_root(near, project), (suffix,))


def neighbours(near: ModuleFacts, project: Project, word: str) -> list[ModuleFacts]:
    """The file itself, and the files of its folder whose text contains `word`; the file alone in a large folder."""
    return callers.neighbours(project, near, word)


def is_trial(function: Function, event: Event, project: Project) -> bool:
    """True if an event stands in a test, a demonstration, or under `if __name__ == "__main__"`."""
    return doubts.is_tried_out(project, function, event)


def is_trial_site(site: Site, project: Project) -> bool:
    """True if the value of a site is an event of its function that stands in a test or a demonstration."""
    function = site.function
    events = () if function is None else (event for event in function.flow.events if event.value is site.value)
    return function is not None and any(is_trial(function, event, project) for event in events)


def is_generator_source(module: ModuleFacts, project: Project) -> bool:
    """True if a generated file in the same folder names this one or repeats one of its classes: nobody imports it."""
    return doubts.is_generator_source(project, module)


def is_shadowed(name: str, module: ModuleFacts, project: Project) -> bool:
    """True if the import of a dotted name is found first in a package folder above the file.

    Python does not search there, so the name may stand for another definition.
    """
    return doubts.is_shadowed(project, module, name)
