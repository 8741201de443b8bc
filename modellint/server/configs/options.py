"""Keys of the files that a configuration could have instead of those that it has: other choices of its groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.apps import name_in
from modellint.dialects.defaults import header_of
from modellint.graph.recipe import Dialect, NodeKind
from modellint.server.configs.others import files_below
from modellint.server.configs.trees import Key, in_words
from modellint.server.configs.wholes import whole_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from modellint.dialects.placing import Composed
    from modellint.graph.recipe import Entry, Node, Recipe, Scalar
    from modellint.link.project import Project

_TOP = "_global_"


def keys_in_options(path: Sequence[Scalar], composed: Composed | None, project: Project) -> Iterator[Key]:
    """A key, by the keys that lead to it, in each file of the search path that has it and can be chosen."""
    for recipe, package in _options(composed, project):
        entry = _entry(recipe.root, path[len(package) :]) if tuple(map(str, path[: len(package)])) == package else None
        if entry is not None:
            yield _key(entry, tuple(path), recipe)


def keys_below_options(path: Sequence[Scalar], recipe: Recipe, project: Project) -> list[Key]:
    """The keys below a key in the files of the search path that can be chosen, each once."""
    composed = whole_of(recipe.file, project) if recipe.dialect is Dialect.OMEGACONF else None
    found: dict[Scalar, Key] = {}
    for option, package in _options(composed, project) if path else ():
        rest = path[len(package) :]
        if not package or tuple(map(str, path[: len(package)])) != package:
            continue
        around = _entry(option.root, rest) if rest else None
        node = option.root if not rest else around.value if around is not None else None
        for name, entry in node.items().items() if node is not None and node.kind is NodeKind.MAPPING else ():
            found.setdefault(name, _key(entry, (*path, name), option))
    return list(found.values())


def _key(entry: Entry, path: tuple[Scalar, ...], recipe: Recipe) -> Key:
    has_keys = bool(entry.value.entries)
    return Key(path, recipe.place(entry.key.span), in_words(None, entry.value), "", has_keys)


def _options(composed: Composed | None, project: Project) -> Iterator[tuple[Recipe, tuple[str, ...]]]:
    """The files below a program's folder, each with the keys of its package."""
    folder = None if composed is None else composed.app.folder
    for path in files_below(folder, project, is_deep=True) if folder is not None else ():
        recipe = project.omegaconf(path)
        if recipe is not None and folder is not None:
            for package in _packages(recipe, path, folder):
                yield recipe, package


def _packages(recipe: Recipe, path: Path, folder: Path) -> Iterator[tuple[str, ...]]:
    """The packages that a file may have: that of its head, or of its group, or of one above, `data: small/digits`."""
    header = header_of(recipe)
    if header is not None:
        yield tuple(filter(None, header.removeprefix(_TOP).split(".")))
        return
    group = tuple(name_in(path, folder).split("/")[:-1])
    yield from (group[:end] for end in range(len(group), 0, -1))
    if not group:
        yield ()


def _entry(node: Node, path: Sequence[Scalar]) -> Entry | None:
    """The entry at the end of some keys of a node; None if it is not there, or no key is left."""
    entry: Entry | None = None
    for key in path:
        entry = node.get(str(key)) if node.kind is NodeKind.MAPPING else None
        if entry is None:
            return None
        node = entry.value
    return entry
