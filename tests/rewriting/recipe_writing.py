"""A recipe that is written again, in a style that subclasses choose.

It is composed to nodes and written with each scalar as it stands in the text. Recipes with comments (which may say what
belongs there), aliases, texts of several lines, or no mapping at the top are left alone.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from rewriting.marks import MARK
from rewriting.meaning import SUFFIXES
from rewriting.rewriting import Rewrite, changed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rewriting.marks import Files

STANDARD = "tag:yaml.org,2002:"
TEXT = f"{STANDARD}str"
_UNSAFE_IN_FLOW = frozenset("[]{},")


class LeftAloneError(Exception):
    """A recipe that cannot be written in this way."""


@dataclass
class Recipe:
    """A recipe that is written again in block style."""

    text: str
    marks: dict[int, str] = field(init=False)
    _placed: set[str] = field(init=False, default_factory=set)
    indent: int = 4

    def __post_init__(self) -> None:
        found = ((number, MARK.search(line)) for number, line in enumerate(self.text.splitlines()))
        self.marks = {number: match[1] for number, match in found if match}

    def written(self) -> str:
        """The recipe in this style. Raises LeftAloneError if it has something that cannot be written."""
        try:
            events = list(yaml.parse(self.text, Loader=yaml.SafeLoader))
            root = yaml.compose(self.text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise LeftAloneError from error
        if any(isinstance(event, yaml.AliasEvent) for event in events) or not isinstance(root, yaml.MappingNode):
            raise LeftAloneError
        if any(getattr(event, "anchor", None) for event in events) or tag_of(root):
            raise LeftAloneError
        if "#" in MARK.sub("", self.text):
            raise LeftAloneError
        lines = self.block(root, 0)
        if self._placed != set(self.marks.values()):
            raise LeftAloneError
        return "\n".join([*self.head(), *lines, ""])

    def head(self) -> list[str]:
        """Lines that come first; asked when all others are written."""
        return []

    def mark(self, node: yaml.Node) -> str:
        """The mark of the line that a node starts on: if it becomes several lines, of each of them."""
        mark = self.marks.get(node.start_mark.line, "")
        self._placed |= {mark} - {""}
        return mark

    def entries(self, node: yaml.MappingNode, depth: int) -> list[tuple[yaml.Node, yaml.Node]]:
        """The entries of a mapping, in the order in which they are written."""
        return list(node.value)

    def scalar(self, node: yaml.ScalarNode) -> str:
        """A scalar in block style."""
        return self.raw(node)

    def value(self, entry: yaml.ScalarNode, value: yaml.ScalarNode, depth: int) -> str:
        """The value of an entry, or an item of a list (which is its own entry)."""
        return self.scalar(value)

    def raw(self, node: yaml.ScalarNode) -> str:
        """A scalar as it stands in the text, with its tag."""
        raw = self.text[node.start_mark.index : node.end_mark.index]
        if "\n" in raw:
            raise LeftAloneError
        return raw

    def content(self, node: yaml.ScalarNode) -> str:
        """A scalar as it stands in the text, without its tag."""
        return self.raw(node).removeprefix(tag_of(node)).strip()

    def key(self, node: yaml.Node) -> str:
        """A key with what separates it from its value."""
        return f"{self.name(node)}:"

    def name(self, node: yaml.Node) -> str:
        """A key."""
        if not isinstance(node, yaml.ScalarNode):
            raise LeftAloneError
        return self.raw(node)

    def tag(self, node: yaml.Node) -> str:
        """The tag of a collection."""
        return tag_of(node)

    def before(self, depth: int) -> list[str]:
        """Lines before an entry."""
        return []

    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        """Whether a collection is written in flow style."""
        return not node.value

    def separator(self, depth: int) -> str:
        """What stands between the items of a collection in flow style, and behind its opening bracket."""
        return ", "

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        """The lines of a collection in block style."""
        lines: list[str] = []
        blanks = " " * self.indent * depth
        if isinstance(node, yaml.MappingNode):
            for key, value in self.entries(node, depth):
                lines += self.before(depth)
                lines += self._part(f"{blanks}{self.key(key)}", key, value, depth)
        else:
            for item in node.value:
                lines += self._part(f"{blanks}-", item, item, depth)
        return lines

    def _part(self, head: str, start: yaml.Node, value: yaml.Node, depth: int) -> list[str]:
        marks = [self.mark(start)]
        if isinstance(value, yaml.ScalarNode):
            rest = [self.value(start, value, depth)]
            inner: list[str] = []
            marks.append(self.mark(value))
        elif self.is_flow(value, depth):
            rest, inner = [self.flow(value, marks)], []
        else:
            rest, inner = [self.tag(value)], self.block(value, depth + 1)
        first, *more = " ".join([head, *(part for part in rest if part)]).split("\n")
        numbers = " ".join(dict.fromkeys(filter(None, marks)))
        end = f"  # mark: {numbers}" if numbers else ""
        return [self.ended(first, end), *(f"{line}{end}" for line in more), *inner]

    def ended(self, line: str, mark: str) -> str:
        """The line of an entry with its mark."""
        return line + mark

    def flow(self, node: yaml.Node, marks: list[str], depth: int = 1) -> str:
        """A node in flow style; its marks are added to those of the line."""
        marks.append(self.mark(node))
        if isinstance(node, yaml.ScalarNode):
            raw = self.scalar(node)
            if node.style is None and (_UNSAFE_IN_FLOW & set(node.value) or node.value.startswith("?")):
                return quoted(node)
            return f"{raw} " if raw and raw == tag_of(node) else raw or "null"
        tag = f"{self.tag(node)} " if self.tag(node) else ""
        separator = self.separator(depth)
        lead = separator.lstrip(",").lstrip(" ")
        if isinstance(node, yaml.SequenceNode):
            return f"{tag}[{lead}{separator.join(self.flow(item, marks, depth + 1) for item in node.value)}]"
        parts = []
        for key, value in node.value:
            marks.append(self.mark(key))
            parts.append(f"{self.name(key)}: {self.flow(value, marks, depth + 1)}")
        return f"{tag}{{{lead}{separator.join(parts)}}}"


def tag_of(node: yaml.Node) -> str:
    """A node's own tag, as it is written; empty if it is the one that YAML gives it anyway."""
    if isinstance(node, yaml.CollectionNode) and not node.tag.endswith((":map", ":seq")):
        return node.tag.replace(STANDARD, "!!")
    return "" if node.tag.startswith(STANDARD) else node.tag


def quoted(node: yaml.ScalarNode) -> str:
    """A scalar whose text is in quotes."""
    value = node.value.replace("'", "''")
    return f"{tag_of(node)} '{value}'".lstrip()


def each_recipe(style: Callable[[str], Recipe]) -> Rewrite:
    """A rewriting of each recipe by itself; those that cannot be written so stay as they are."""

    def rewrite(files: Files) -> dict[str, str] | None:
        result = dict(files)
        for path, text in recipes(files):
            with suppress(LeftAloneError):
                result[path] = style(text).written()
        return changed(files, result)

    return rewrite


def each_text(change: Callable[[str], str]) -> Rewrite:
    """A rewriting of each recipe's text."""

    def rewrite(files: Files) -> dict[str, str] | None:
        return changed(files, {**files, **{path: change(text) for path, text in recipes(files)}})

    return rewrite


def recipes(files: Files) -> Iterator[tuple[str, str]]:
    """The YAML files of a project."""
    return ((path, text) for path, text in files.items() if path.endswith(SUFFIXES))
