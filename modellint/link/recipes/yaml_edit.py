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


def insert_element(recipe: Recipe, node: Node, value: str) -> Edit | None:
    """The edit that adds an element to the innermost list of `node`, None where there is no safe place."""
    while len(node.elements) == 1 and node.elements[0].kind is NodeKind.SEQUENCE:
        node = node.elements[0]
    if node.kind is not NodeKind.SEQUENCE or not node.elements:
        return None
    last = node.elements[-1]
    if node.flow:
        return _into_flow_list(recipe, node, last, value)
    line = recipe.source.lines[last.span.line - 1]
    dash = line[: last.span.column - 1].rstrip(" ")
    if not dash.endswith("-") or last.kind is not NodeKind.SCALAR or last.span.line != last.span.end_line:
        return None
    body = line.rstrip("\r\n")
    ending = line[len(body) :] or "\n"
    indent = "".join(" " for _ in dash[:-1])
    spot = Span(last.span.line, len(body) + 1, last.span.line, len(body) + 1)
    gap = line[len(dash) : last.span.column - 1]
    return Edit(recipe.place(spot), f"{ending}{indent}-{gap}{value}")


def _into_flow_list(recipe: Recipe, node: Node, last: Node, value: str) -> Edit:
    """After the last element; on a line of its own where that one has one."""
    spot = Span(last.span.end_line, last.span.end_column, last.span.end_line, last.span.end_column)
    line = recipe.source.lines[last.span.line - 1]
    indent = line[: last.span.column - 1]
    ending = line[len(line.rstrip("\r\n")) :]
    is_alone = not indent.strip() and last.span.line > node.span.line
    return Edit(recipe.place(spot), f",{ending}{indent}{value}" if is_alone else f", {value}")
