"""Placeholders of a recipe that no comment, document or code says how to fill."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Node, Recipe, TagKind
from modellint.link.recipes import queries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.finding import Place
    from modellint.rule import Project

_DOCUMENTS = (".md", ".rst", ".txt")
_TEXTS = (*_DOCUMENTS, ".py", ".ipynb")


@dataclass(frozen=True, slots=True)
class LeftPlaceholder:
    """A `!PLACEHOLDER` that nothing beside the recipe mentions: its key, and its path (`data[folder]`)."""

    place: Place
    path: str


def left_placeholders(recipe: Recipe, project: Project) -> Iterator[LeftPlaceholder]:
    """The placeholders of an inference recipe that neither a comment nor a file beside it says how to fill."""
    asked = queries.about(recipe, project)
    if not asked.is_inference or asked.pairing.scripts:
        return
    for node in asked.live_nodes():
        item = asked.evaluation.item(node)
        if node.tag.kind is not TagKind.PLACEHOLDER or item is None or _has_comment(recipe, node):
            continue
        if not _is_explained(item.top, recipe, project):
            yield LeftPlaceholder(item.place, item.path)


def _is_explained(name: str, recipe: Recipe, project: Project) -> bool:
    """True if a text beside a recipe mentions a key, or a document in a folder above shows it as an option."""
    if any(re.search(rf"\b{re.escape(name)}\b", text) for text in _texts_in(recipe.file.parent, _TEXTS, project)):
        return True
    root = project.options.root
    above = [folder for folder in recipe.file.parent.parents if folder == root or root in folder.parents]
    option = re.compile(rf"--{re.escape(name)}\b")
    return any(option.search(text) for folder in above for text in _texts_in(folder, _DOCUMENTS, project))


def _has_comment(recipe: Recipe, node: Node) -> bool:
    """True if a comment stands behind a node or on the line above it."""
    lines = recipe.source.lines
    behind = lines[node.span.end_line - 1][node.span.end_column - 1 :]
    above = lines[node.span.line - 2] if node.span.line > 1 else ""
    return "#" in behind or above.lstrip().startswith("#")


def _texts_in(folder: Path, suffixes: tuple[str, ...], project: Project) -> tuple[str, ...]:
    """The texts in a folder, by the endings of their names."""

    def read_all() -> tuple[str, ...]:
        names = [name for name in project.files.listdir(folder) if name.endswith(suffixes)]
        return tuple((project.files.read(folder / name) or b"").decode("utf-8", "replace") for name in names)

    return project.once(("texts in", folder, suffixes), read_all)
