"""Insertions into YAML text that keep the style of what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Edit
from modellint.graph.recipe import NodeKind
from modellint.source import Place, Span

if TYPE_CHECKING:
    from modellint.graph.recipe import Node, Recipe


def insert_entry(recipe: Recipe, mapping: Node, key: str, value: str) -> Edit | None:
    """The edit that adds `key: value` as the last entry of a mapping, None where there is no safe place."""
    if mapping.kind is not NodeKind.MAPPING or any(entry.key.text == key for entry in mapping.entries):
        return None
    if mapping.flow:
        return _into_flow(recipe, mapping, f"{key}: {value}")
    last = mapping.entries[-1] if mapping.entries else None
    if last is None:
        return None
    lines = recipe.source.lines
    start = lines[last.key.span.line - 1]
    indent = start[: last.key.span.column - 1]
    if indent.strip():
        return None
    # The value may lead elsewhere (an alias), or end on a line of its own: the entry ends where its last line does.
    number = max(last.key.span.line, last.value.span.end_line if _is_here(last.value, last.key) else 0)
    line = lines[number - 1]
    body = line.rstrip("\r\n")
    ending = line[len(body) :] or ("\r\n" if lines[0].endswith("\r\n") else "\n")
    spot = Span(number, len(body) + 1, number, len(body) + 1)
    return Edit(recipe.place(spot), f"{ending}{indent}{key}: {value}")


def _is_here(value: Node, key: Node) -> bool:
    return (value.span.line, value.span.column) > (key.span.line, key.span.column)


def _into_flow(recipe: Recipe, mapping: Node, entry: str) -> Edit:
    span = mapping.span
    line = recipe.source.lines[span.end_line - 1]
    brace = span.end_column - 2
    before = line[:brace].rstrip(" ")
    separator = ", " if mapping.entries and not before.endswith((",", "{")) else " " if before.endswith(",") else ""
    place = Place(recipe.path, Span(span.end_line, len(before) + 1, span.end_line, len(before) + 1))
    return Edit(place, f"{separator}{entry}")
