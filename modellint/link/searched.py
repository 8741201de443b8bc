"""Which files of a project mention a word: all are searched, where there are not too many."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project

#: In projects with more Python files than this nothing is looked for in all of them.
_MAX_PROJECT = 4_000
#: What makes blanks of all bytes that are no part of a word.
_APART = bytes(byte if byte > 127 or chr(byte).isalnum() or byte == ord("_") else 32 for byte in range(256))
_DEFINED = re.compile(rb"\b(class|def)[ \t]+([\w\x80-\xff]+)")
#: Folders of what a project installs.
_OF_OTHERS = frozenset(("node_modules", "site-packages", "__pycache__"))


def mentioning(project: Project, near: ModuleFacts, *words: str) -> list[ModuleFacts]:
    """The files of the project that a file belongs to which mention all of `words`, which the file asks for.

    A word may be `class Name` or `def name`, for the files that define it.
    """
    modules = map(project.python, _mentions(project, near).of(words))
    return [module for module in modules if module is not None]


def are_mentioned(project: Project, near: ModuleFacts, *words: str) -> bool:
    """Whether a file of its project other than this one mentions all of `words`."""
    return any(path != near.file for path in _mentions(project, near).of(words))


def is_searched(project: Project, near: ModuleFacts) -> bool:
    """Whether the project that a file belongs to has few enough files to be searched for what mentions a word."""
    return _mentions(project, near).is_whole


def _mentions(project: Project, near: ModuleFacts) -> _Mentions:
    root = _root(project, near.file)
    return project.once(("mentions", root), lambda: _Mentions(project, root))


class _Mentions:
    """Which files below a folder mention a word: each file is read once for all words."""

    def __init__(self, project: Project, root: Path) -> None:
        paths = _found_below(project, root, (".py",))
        #: Whether there are few enough of them.
        self.is_whole = len(paths) <= _MAX_PROJECT
        self._paths = tuple(paths if self.is_whole else ())
        self._files: dict[bytes, list[int]] = {}
        for number, path in enumerate(self._paths):
            content = project.files.read(path) or b""
            for word in {*content.translate(_APART).split(), *map(b" ".join, _DEFINED.findall(content))}:
                self._files.setdefault(word, []).append(number)

    def of(self, words: Iterable[str]) -> list[Path]:
        """The files that mention all of some words."""
        first, *rest = (self._files.get(word.encode(), ()) for word in words)
        return [self._paths[number] for number in first if all(number in other for other in rest)]


def _root(project: Project, file: Path) -> Path:
    """The folder of the project that a file belongs to: the one that is configured, or that of its package."""
    if project.options.root in file.parents:
        return project.options.root
    folder = file.parent
    while folder.parent != folder and project.files.exists(folder.parent / "__init__.py"):
        folder = folder.parent
    return folder


def files_below(project: Project, root: Path, suffixes: tuple[str, ...] = (".py",)) -> list[Path]:
    """The Python files below a folder, environments and hidden folders left out; none if there are too many."""
    found = _found_below(project, root, suffixes)
    return found if len(found) <= _MAX_PROJECT else []


def _found_below(project: Project, root: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The files below a folder; not all, but more than the most, if there are too many."""
    found: list[Path] = []
    folders = [root]
    for folder in folders:
        names = project.files.listdir(folder)
        if "pyvenv.cfg" in names:
            continue
        found += [folder / name for name in names if name.endswith(suffixes)]
        if len(found) > _MAX_PROJECT:
            return found
        rest = (name for name in names if not name.startswith(".") and not name.endswith(".py"))
        folders += [folder / name for name in rest if name not in _OF_OTHERS and project.files.is_dir(folder / name)]
    return found
