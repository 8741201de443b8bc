"""The names that other configurations near a file call, and the arguments that these give them.

They stand in for the facts about libraries that are neither installed nor described.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.apps import programs_of
from modellint.graph.recipe import Dialect, NodeKind
from modellint.server.configs.cursor import CALLING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from modellint.graph.recipe import Node, Recipe
    from modellint.link.project import Project

#: Files that are read for it.
_MOST_FILES = 400


def names_called(recipe: Recipe, project: Project) -> Mapping[str, tuple[str, ...]]:
    """The names that the configurations near a file call, each with the names of the arguments that they give."""
    programs = programs_of(recipe.file, project) if recipe.dialect is Dialect.OMEGACONF else ()
    folder = next((one.folder for one in programs if one.folder is not None), recipe.file.parent)
    is_deep = bool(programs)

    def find() -> Mapping[str, tuple[str, ...]]:
        found: dict[str, dict[str, None]] = {}
        for path in files_below(folder, project, is_deep=is_deep):
            known = found_in(path, recipe.dialect, project)
            for name, arguments in known.items():
                found.setdefault(name, {}).update(dict.fromkeys(arguments))
        return {name: tuple(arguments) for name, arguments in found.items()}

    return project.once(("names called", folder, recipe.dialect.name), find)


def found_in(path: Path, dialect: Dialect, project: Project) -> Mapping[str, tuple[str, ...]]:
    """The names that one file calls, each with the names of the arguments that it gives."""

    def find() -> Mapping[str, tuple[str, ...]]:
        recipe = project.recipe(path) if dialect is Dialect.HYPERPYYAML else project.omegaconf(path)
        found: dict[str, dict[str, None]] = {}
        for node in recipe.nodes() if recipe is not None else ():
            name, arguments = _call(node, dialect)
            if name:
                found.setdefault(name, {}).update(dict.fromkeys(arguments))
        return {name: tuple(arguments) for name, arguments in found.items()}

    return project.once(("names called in", path, dialect.name), find)


def _call(node: Node, dialect: Dialect) -> tuple[str, list[str]]:
    """The name that a node calls, and the names of its arguments; an empty name if it is no object."""
    if node.tag.kind in CALLING:
        return node.tag.target, [entry.key.text for entry in node.entries]
    writing = dialect.writing
    target = node.get(writing.target) if writing.target and node.kind is NodeKind.MAPPING else None
    if target is None or target.value.kind is not NodeKind.SCALAR:
        return "", []
    inner = node.get(writing.arguments) if writing.arguments else None
    entries = node.entries if not writing.arguments else inner.value.entries if inner is not None else ()
    names = [entry.key.text for entry in entries if entry.key.text not in writing.reserved_keys]
    return target.value.text, names


def files_below(folder: Path, project: Project, *, is_deep: bool) -> Iterator[Path]:
    """The YAML files in a folder, and in those below it."""
    pending, count = [folder], 0
    for one in pending:
        for name in project.files.listdir(one):
            if name.endswith((".yaml", ".yml")):
                count += 1
                yield one / name
            elif is_deep and "." not in name and project.files.is_dir(one / name):
                pending.append(one / name)
            if count >= _MOST_FILES:
                return
