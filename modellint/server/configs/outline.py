"""The outline of a configuration for an editor: its keys in order, and the files that it names."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.dialects.defaults import entries_in
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect, NodeKind, TagKind
from modellint.server.configs.cursor import CALLING, called_at
from modellint.server.configs.groups import files_of, groups_of
from modellint.server.configs.subjects import file_named

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.graph.recipe import Node, Recipe
    from modellint.link.project import Project
    from modellint.source import Span

#: The most keys of an outline, and the most files that are looked for.
_MOST_KEYS, _MOST_FILES = 5_000, 500
_DEEPEST = 60


@dataclass(eq=False)
class OutlinedKey:
    """A key with those below it: its span with that of its value, its own span, and the name that its value calls."""

    name: str
    whole: Span
    span: Span
    target: str
    kind: NodeKind
    below: list[OutlinedKey] = field(default_factory=list)


def keys_of(recipe: Recipe) -> list[OutlinedKey]:
    """The keys of a file, in order; those of the elements of a sequence are below it."""
    top: list[OutlinedKey] = []
    pending: list[tuple[Node, list[OutlinedKey], int]] = [(recipe.root, top, 0)]
    count = 0
    for node, into, depth in pending:
        if depth > _DEEPEST:
            continue
        pending.extend((one, into, depth + 1) for one in node.elements if one.kind is not NodeKind.SCALAR)
        for entry in node.entries:
            if entry.key.kind is not NodeKind.SCALAR or entry.alias is not None or count >= _MOST_KEYS:
                continue
            count += 1
            value = entry.value
            own = entry.key.span
            end = max((own.end_line, own.end_column), (value.span.end_line, value.span.end_column))
            whole = type(own)(own.line, own.column, *end)
            call = called_at((node, value)) if value.kind is NodeKind.MAPPING else None
            tag = value.tag.target if value.tag.kind in CALLING else ""
            one = OutlinedKey(entry.key.text or '""', whole, own, tag or (call.target if call else ""), value.kind)
            into.append(one)
            pending.append((value, one.below, depth + 1))
    return top


def files_named(recipe: Recipe, project: Project) -> Iterator[tuple[Span, Path]]:
    """The places of a file that name other files which are there: entries of `defaults:`, `!include:`, and values."""
    looked = 0
    defaults: set[int] = set()
    if recipe.dialect is Dialect.OMEGACONF:
        groups = groups_of(recipe.file, project)
        for element, choice in entries_in(recipe):
            defaults.update(map(id, (element, *(entry.value for entry in element.entries))))
            if choice is None or choice.is_self:
                continue
            values = [entry.value for entry in element.entries] or [element]
            values = [part for value in values for part in (value.elements or (value,))]
            for value, (_, file) in zip(values, files_of(choice, groups, project), strict=False):
                yield value.span, file
    for node in recipe.nodes():
        if node.tag.kind is TagKind.INCLUDE:
            file = recipe.included(node)
            if project.files.exists(file):
                yield node.tag.span, file
        elif node.kind is NodeKind.SCALAR and "." in node.text and id(node) not in defaults and looked < _MOST_FILES:
            looked += 1
            found = file_named(node.text.strip(), recipe.file.parent, project)
            if found is not None:
                yield node.span, found
