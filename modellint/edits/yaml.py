"""Insertions into YAML text that keep the style of what is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Edit, Fix
from modellint.graph.recipe import NodeKind
from modellint.source import Span

if TYPE_CHECKING:
    from modellint.graph.recipe import Node, Recipe

#: Names that can be keys and stand in references as they are.
_KEY = re.compile(r"[A-Za-z_]\w*")


def add_reference(
    recipe: Recipe, name: str, path: str, owner: Node, *, to: str, item: Node | None = None, in_list: bool = False
) -> Fix | None:
    """The fix that adds `!ref <path>` to a mapping of the recipe under a name, or `in_list` to the owner's list.

    None where there is no safe place, or where the path leads to anything but the `item`. `to` names the owner.
    """
    if (item is not None and recipe.resolve(path) is not item) or not (in_list or _KEY.fullmatch(name)):
        return None
    value = f"!ref <{path}>"
    edit = insert_element(recipe, owner, value) if in_list else insert_entry(recipe, owner, name, value)
    return None if edit is None else Fix(f"Add `{name}` to `{to}`", Applicability.SAFE, (edit,))


def insert_entry(recipe: Recipe, mapping: Node, key: str, value: str) -> Edit | None:
    """The edit that adds `key: value` as the last entry of a mapping, None where there is no safe place."""
    if mapping.kind is not NodeKind.MAPPING or any(entry.key.text == key for entry in mapping.entries):
        return None
    if mapping.flow:
        if not mapping.entries:
            return _into_empty(recipe, mapping, f"{key}: {value}")
        entry = mapping.entries[-1]
        return _into_flow(recipe, mapping, entry.key, entry.value, f"{key}: {value}")
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
    ending = _ending(recipe, number)
    spot = Span(number, len(body) + 1, number, len(body) + 1)
    return Edit(recipe.place(spot), f"{ending}{indent}{key}: {value}")


def _is_here(value: Node, key: Node) -> bool:
    return (value.span.line, value.span.column) > (key.span.line, key.span.column)


def _ending(recipe: Recipe, number: int) -> str:
    """The line end of a line; for a last line without one, that of the others."""
    lines = recipe.source.lines
    line = lines[number - 1]
    return line[len(line.rstrip("\r\n")) :] or ("\r\n" if lines[0].endswith("\r\n") else "\n")


def _into_empty(recipe: Recipe, mapping: Node, entry: str) -> Edit:
    span = mapping.span
    return Edit(recipe.place(Span(span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)), entry)


def _into_flow(recipe: Recipe, owner: Node, first: Node, last: Node, text: str) -> Edit | None:
    """The edit that adds `text` behind the last element of a flow collection, which runs from `first` to `last`.

    Where that one has a line of its own, so gets the new one. None where an alias stands for it.
    """
    start, end, outer = first.span, last.span, owner.span
    if not (outer.line, outer.column) < (start.line, start.column) <= (end.end_line, end.end_column):
        return None
    if (end.end_line, end.end_column) >= (outer.end_line, outer.end_column):
        return None
    lines = recipe.source.lines
    indent = lines[start.line - 1][: start.column - 1]
    line = lines[end.end_line - 1].rstrip("\r\n")
    rest = line[end.end_column - 1 :]
    said = rest.partition(" #")[0].strip()
    if indent.strip() or start.line == outer.line or said not in ("", ","):
        return Edit(recipe.place(Span(end.end_line, end.end_column, end.end_line, end.end_column)), f", {text}")
    ending = _ending(recipe, end.end_line)
    if said:
        return Edit(recipe.place(_at_end(end, line)), f"{ending}{indent}{text},")
    if not rest.strip():
        spot = Span(end.end_line, end.end_column, end.end_line, end.end_column)
        return Edit(recipe.place(spot), f",{ending}{indent}{text}")
    behind = Span(end.end_line, end.end_column, end.end_line, len(line) + 1)
    return Edit(recipe.place(behind), f",{rest}{ending}{indent}{text}")


def _at_end(span: Span, line: str) -> Span:
    return Span(span.end_line, len(line) + 1, span.end_line, len(line) + 1)


def insert_element(recipe: Recipe, node: Node, value: str) -> Edit | None:
    """The edit that adds an element to the innermost list of `node`, None where there is no safe place."""
    while len(node.elements) == 1 and node.elements[0].kind is NodeKind.SEQUENCE:
        node = node.elements[0]
    if node.kind is not NodeKind.SEQUENCE or not node.elements:
        return None
    last = node.elements[-1]
    if node.flow:
        return _into_flow(recipe, node, last, last, value)
    line = recipe.source.lines[last.span.line - 1]
    dash = line[: last.span.column - 1].rstrip(" ")
    if not dash.endswith("-") or last.kind is not NodeKind.SCALAR or last.span.line != last.span.end_line:
        return None
    body = line.rstrip("\r\n")
    ending = _ending(recipe, last.span.line)
    indent = "".join(" " for _ in dash[:-1])
    spot = Span(last.span.line, len(body) + 1, last.span.line, len(body) + 1)
    gap = line[len(dash) : last.span.column - 1]
    return Edit(recipe.place(spot), f"{ending}{indent}-{gap}{value}")
