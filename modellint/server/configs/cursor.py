"""The place of the cursor in a configuration that is being typed: the node, the keys that lead to it, what is around.

A description of each dialect says how an object is written: by a tag, or by a key that names the class, with the
arguments beside it or in a mapping of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from modellint.frontends.recipe import read, read_config, read_omegaconf
from modellint.graph.immutable import replace
from modellint.graph.recipe import Dialect, NodeKind, TagKind
from modellint.server.configs.mending import Marked, ways_to_read
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.graph.recipe import Entry, Node, Recipe, Scalar, Writing

#: The tags whose mappings are arguments.
CALLING = frozenset((TagKind.NEW, TagKind.NAME, TagKind.APPLY, TagKind.APPLYREF))
_BOOLEANS = ("true", "false")
_ANCHOR = re.compile(r"(?:!\S*[ \t]+)?&[^\s\[\]{},]+[ \t]+")


#: Keys that are no arguments, each with its effect, and the values that it takes.
_DIRECTIVES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "_target_": ("the class or function to call", ()),
    "_partial_": ("`true` makes a `functools.partial` of the call", _BOOLEANS),
    "_recursive_": ("`false` leaves the objects in the arguments to the callee", _BOOLEANS),
    "_convert_": ("how mappings and lists are passed on", ("none", "partial", "object", "all")),
    "_args_": ("the arguments by position", ()),
    "dict_kwargs": ("arguments for `**kwargs` that cannot be followed", ()),
}
#: The ways in which dialects write objects by keys.
WRITINGS = tuple(dialect.writing for dialect in Dialect if dialect.writing.target)
TARGETS = frozenset(writing.target for writing in WRITINGS)


def directives_of(writing: Writing) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The keys of an object that are no arguments, each with its effect and the values that it takes."""
    found = {writing.target: ("the class or function to call", ())}
    found |= {writing.arguments: ("the arguments", ())} if writing.arguments else {}
    return found | {key: _DIRECTIVES.get(key, ("", ())) for key in sorted(writing.reserved_keys - found.keys())}


@dataclass(frozen=True)
class Call:
    """An object that is written: the name that it calls, and the mapping with its arguments.

    `is_shell`: the cursor is beside the name, and the arguments have a mapping of their own.
    """

    target: str
    arguments: Node | None
    writing: Writing | None
    is_shell: bool = False


@dataclass(frozen=True, eq=False)
class Cursor:
    """The place of the cursor.

    `path` are the keys that lead to the node, or to the mapping in which it is a key. `holders` are the nodes around
    it, outermost first. `typed` is what stands before the cursor in the node, `after` what stands behind.
    """

    marked: Marked
    recipe: Recipe
    node: Node
    path: tuple[Scalar, ...]
    holders: tuple[Node, ...]
    is_key: bool
    is_tag: bool

    @property
    def _text(self) -> str:
        return self.node.tag.text if self.is_tag else self.node.text

    @property
    def typed_text(self) -> str:
        return self._text.partition(self.marked.mark)[0]

    @property
    def after(self) -> str:
        return self._text.partition(self.marked.mark)[2]

    @property
    def holder(self) -> Node | None:
        """The mapping or sequence around the node."""
        return self.holders[-1] if self.holders else None

    @property
    def key(self) -> Scalar:
        """The key whose value is at the cursor; None for a key, and for an element of a sequence."""
        is_value = not self.is_key and self.holder is not None and self.holder.kind is NodeKind.MAPPING
        return self.path[-1] if is_value and self.path else None

    @cached_property
    def call(self) -> Call | None:
        """The object whose keys or arguments the cursor is among; None if it is in none."""
        return called_at(self.holders)

    @cached_property
    def neutral(self) -> str:
        """The text without the word at the cursor, the same for each letter of it that is typed."""
        source, span = self.recipe.source, self.node.tag.span if self.is_tag else self.node.span
        start = source.starts[span.line - 1] + span.column - 1
        end = source.starts[span.end_line - 1] + span.end_column - 1
        text = source.text
        if self.is_key:
            entry = self._entry
            if entry is not None and entry.value.span != entry.key.span and text[end:].lstrip()[:1] == ":":
                line_end = source.starts[span.end_line] if span.end_line < len(source.starts) else len(text)
                rest = text[end:line_end].strip().removeprefix(":").strip()
                if rest or entry.value.kind is not NodeKind.SCALAR:
                    return text[:start] + self.marked.mark + text[end:]
                end = start + len(text[start:line_end].rstrip("\n"))
            is_only = self.holder is not None and len(self.holder.entries) == 1 and not self.holder.flow
            return text[:start] + ("{}" if is_only else "") + text[end:]
        lines = "\n" * text.count("\n", start, end)
        # Between the commas of a sequence something has to stand.
        is_flow = self.holder is not None and self.holder.flow and not self.is_tag
        # What an anchor names elsewhere has to be there.
        anchor = _ANCHOR.match(text, start, end)
        kept = anchor[0] if anchor is not None and not self.is_tag and not self.is_key else ""
        return text[:start] + kept + ("null" if is_flow else "") + lines + text[end:]

    @property
    def _entry(self) -> Entry | None:
        entries = self.holder.entries if self.holder is not None else ()
        return next((entry for entry in entries if entry.key is self.node), None)


def cursor_in(path: Path, lines: Sequence[str], line: int, column: int, dialect: Dialect) -> Cursor | None:
    """The place of a cursor before a character of a line (from 0); None in comments, and where nothing can be read."""
    for one in ways_to_read(lines, line, column):
        recipe = read_text(path, one.text, dialect)
        found = None if recipe is None else _find(one, recipe)
        if found is not None:
            return found
    return None


def read_text(path: Path, text: str, dialect: Dialect) -> Recipe | None:
    """The nodes of a text; None if it is not valid YAML."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        if dialect is Dialect.HYPERPYYAML:
            return read(path, data, included=True)
        found = None if dialect is Dialect.OMEGACONF else read_config(path, data, (dialect,))
        return found or replace(read_omegaconf(path, data), dialect=dialect)
    except (UnreadableError, RecursionError):
        return None


def node_at(recipe: Recipe, line: int, column: int) -> Cursor | None:
    """The innermost scalar or tag at a place of a valid text, line and column from 1; None if there is none."""

    def is_in(node: Node, *, in_tag: bool) -> bool:
        span = node.tag.span if in_tag else node.span
        return (span.line, span.column) <= (line, column) < (span.end_line, span.end_column)

    for node, path, holders, is_key in nodes_in(recipe):
        is_tag = node.tag.kind in CALLING | {TagKind.INCLUDE, TagKind.MODULE} and is_in(node, in_tag=True)
        if is_tag or (node.kind is NodeKind.SCALAR and is_in(node, in_tag=False)):
            return Cursor(Marked(recipe.source.text, "\0"), recipe, node, path, holders, is_key, is_tag)
    return None


def called_at(holders: Sequence[Node]) -> Call | None:
    """The object whose keys or arguments are in the innermost of some nodes; None if that is none."""
    holder = holders[-1] if holders else None
    if holder is None or holder.kind is not NodeKind.MAPPING:
        return None
    if holder.tag.kind in CALLING:
        return Call(holder.tag.target, holder, None)
    around = holders[-2] if len(holders) > 1 else None
    for writing in WRITINGS:
        name = _name_in(holder, writing)
        if name is not None:
            own = holder.get(writing.arguments) if writing.arguments else None
            is_shell = bool(writing.arguments)
            return Call(name, own.value if own is not None else None if is_shell else holder, writing, is_shell)
        if writing.arguments and around is not None and around.kind is NodeKind.MAPPING:
            own = around.get(writing.arguments)
            name = _name_in(around, writing) if own is not None and own.value is holder else None
            if name is not None:
                return Call(name, holder, writing)
    return None


def _name_in(node: Node, writing: Writing) -> str | None:
    """The name of the class in a mapping; None if it has none."""
    entry = node.get(writing.target)
    if entry is None or entry.value.kind is not NodeKind.SCALAR:
        return None
    text = entry.value.text.strip()
    is_name = text and all(part.isidentifier() for part in text.split("."))
    # A key that is a plain word may have other meanings.
    return text if is_name and ("." in text or not writing.target.isalpha()) else None


def _find(one: Marked, recipe: Recipe) -> Cursor | None:
    for node, path, holders, is_key in nodes_in(recipe):
        is_tag = one.mark in node.tag.text
        if is_tag or (node.kind is NodeKind.SCALAR and one.mark in node.text):
            return Cursor(one, recipe, node, path, holders, is_key, is_tag)
    return None


def nodes_in(recipe: Recipe) -> Iterator[tuple[Node, tuple[Scalar, ...], tuple[Node, ...], bool]]:
    """The nodes of a file, each once: with the keys that lead to it, the nodes around it, and if it is a key."""
    seen: set[int] = set()
    stack: list[tuple[Node, tuple[Scalar, ...], tuple[Node, ...], bool]] = [(recipe.root, (), (), False)]
    while stack:
        node, path, holders, is_key = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node, path, holders, is_key
        inner = (*holders, node)
        below: list[tuple[Node, tuple[Scalar, ...], tuple[Node, ...], bool]] = []
        for index, element in enumerate(node.elements):
            below.append((element, (*path, index), inner, False))
        for entry in node.entries:
            below += [(entry.key, path, inner, True), (entry.value, (*path, entry.name), inner, False)]
        stack.extend(reversed(below))
