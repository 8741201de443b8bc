"""Recipes that are written in another way: the same nodes of YAML in another style."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from rewriting.marks import MARK
from rewriting.meaning import is_loaded_alike
from rewriting.recipe_writing import (
    STANDARD,
    TEXT,
    LeftAloneError,
    Recipe,
    each_recipe,
    each_text,
    quoted,
    recipes,
    tag_of,
)
from rewriting.rewriting import Kind, Rewrite, Rewriting

if TYPE_CHECKING:
    from collections.abc import Callable

    import yaml

    from rewriting.marks import Files


class _Flow(Recipe):
    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        return True


class _InnerFlow(Recipe):
    """Flow style from the second level on."""

    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        return depth > 0 or not node.value


class _SpreadFlow(_Flow):
    """Flow style over several lines."""

    def separator(self, depth: int) -> str:
        return ",\n" + " " * self.indent * depth


class _ByOne(Recipe):
    indent = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self.indent = type(self).indent


class _ByTwo(_ByOne):
    indent = 2


class _ByEight(_ByOne):
    indent = 8


class _FlatLists(Recipe):
    """Items of lists no further in than the key of the list."""

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        lines = super().block(node, depth)
        is_list = lines and lines[0].lstrip().startswith("- ") and depth == 1
        return [line.removeprefix(" " * self.indent) for line in lines] if is_list else lines


class _SpacedOut(Recipe):
    def before(self, depth: int) -> list[str]:
        return ["", f"{' ' * self.indent * depth}# and then"]


class _Blanks(Recipe):
    """Blanks before the colon of a key and behind it, and at the end of the line."""

    def key(self, node: yaml.Node) -> str:
        return f"{self.name(node)} :  "

    def ended(self, line: str, mark: str) -> str:
        return f"{line}  {mark}  "


class _Reversed(Recipe):
    """The last key first. A key that stands twice would mean something else."""

    first = 0
    last = 100

    def entries(self, node: yaml.MappingNode, depth: int) -> list[tuple[yaml.Node, yaml.Node]]:
        names = [key.value for key, _ in node.value]
        if len(set(map(str, names))) < len(names) or "<<" in names:
            raise LeftAloneError
        return list(reversed(node.value)) if self.first <= depth <= self.last else node.value


class _ReversedTop(_Reversed):
    last = 0


class _ReversedArguments(_Reversed):
    first = 1


class _Sorted(_Reversed):
    def entries(self, node: yaml.MappingNode, depth: int) -> list[tuple[yaml.Node, yaml.Node]]:
        return sorted(super().entries(node, depth), key=lambda entry: str(entry[0].value))


class _Quoted(Recipe):
    """Texts and what is tagged in single quotes."""

    def scalar(self, node: yaml.ScalarNode) -> str:
        is_text = node.tag == TEXT or (tag_of(node) and node.value)
        return self.in_quotes(node) if node.style is None and is_text else self.raw(node)

    def in_quotes(self, node: yaml.ScalarNode) -> str:
        return quoted(node)


class _DoubleQuoted(_Quoted):
    def in_quotes(self, node: yaml.ScalarNode) -> str:
        return f"{tag_of(node)} {json.dumps(node.value)}".lstrip()


class _Escaped(_Quoted):
    """Texts in double quotes, each character by its number."""

    def in_quotes(self, node: yaml.ScalarNode) -> str:
        text = "".join(f"\\x{ord(c):02x}" if ord(c) < 256 else c for c in node.value)
        return f'{tag_of(node)} "{text}"'.lstrip()


class _Folded(_Quoted):
    """Texts on a line of their own."""

    sign = ">-"

    def value(self, entry: yaml.ScalarNode, value: yaml.ScalarNode, depth: int) -> str:
        text = self.scalar(value)
        return text.replace("\n", "\n" + " " * self.indent * (depth + 1))

    def in_quotes(self, node: yaml.ScalarNode) -> str:
        if MARK.search(self.text.splitlines()[node.start_mark.line]):
            return self.raw(node)  # a comment would be part of the text
        return f"{tag_of(node)} {self.sign}\n{node.value}".lstrip()


class _Literal(_Folded):
    sign = "|-"


class _NextLine(Recipe):
    """Scalars on the line below their keys."""

    def value(self, entry: yaml.ScalarNode, value: yaml.ScalarNode, depth: int) -> str:
        raw = self.raw(value)
        return f"\n{' ' * self.indent * (depth + 1)}{raw}" if entry is not value and raw else raw


class _QuotedKeys(Recipe):
    quote = '"'

    def name(self, node: yaml.Node) -> str:
        raw = super().name(node)
        return f"{self.quote}{raw}{self.quote}" if raw.isidentifier() and node.tag == TEXT else raw


class _SingleQuotedKeys(_QuotedKeys):
    quote = "'"


class _ExplicitKeys(Recipe):
    """`? key` with its value on the line below."""

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        blanks = " " * self.indent * depth
        lines = []
        for line in super().block(node, depth):
            name, colon, rest = line.partition(":")
            if line.startswith(f"{blanks}? "):
                mark = MARK.search(rest)
                lines += [name + (mark[0] if mark else ""), f"{blanks}{colon}{rest}"]
            else:
                lines.append(line)
        return lines

    def key(self, node: yaml.Node) -> str:
        name = self.name(node)
        if ":" in name:
            raise LeftAloneError
        return f"? {name}:"


class _Verbatim(Recipe):
    """Tags in full: `!<!new:torch.nn.Linear>`."""

    def tag(self, node: yaml.Node) -> str:
        return self.tagged(tag_of(node))

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        tag = tag_of(node)
        return f"{self.tag(node)}{raw.removeprefix(tag)}" if tag and raw.startswith(tag) else raw

    def tagged(self, tag: str) -> str:
        return tag and f"!<{tag.replace('!!', STANDARD)}>"


class _Percent(_Verbatim):
    """Letters in tags by their numbers."""

    def tagged(self, tag: str) -> str:
        return re.sub(r"(?<=\w)([aeio])", lambda match: f"%{ord(match[1]):X}", tag) if tag.startswith("!") else tag


class _Handles(_Verbatim):
    """Tags by a handle of the recipe's own: `!n!torch.nn.Linear`."""

    def head(self) -> list[str]:
        return ["%YAML 1.1", "%TAG !n! !new:", "---"]

    def tagged(self, tag: str) -> str:
        return f"!n!{tag.removeprefix('!new:')}" if tag.startswith("!new:") else tag


class _TagsBelow(Recipe):
    """The tag of a mapping on the line below its key."""

    def _part(self, head: str, start: yaml.Node, value: yaml.Node, depth: int) -> list[str]:
        lines = super()._part(head, start, value, depth)
        tag = self.tag(value)
        if start is value or not tag or len(lines) < 2 or not lines[0].startswith(f"{head} {tag}"):
            return lines
        mark = lines[0].removeprefix(f"{head} {tag}")
        return [head + mark, f"{' ' * self.indent * (depth + 1)}{tag}{mark}", *lines[1:]]


class _Anchored(Recipe):
    """An anchor on all that can bear one."""

    count = 0

    def _anchor(self) -> str:
        self.count += 1
        return f"&a{self.count}"

    def tag(self, node: yaml.Node) -> str:
        return f"{self._anchor()} {tag_of(node)}".rstrip()

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        return f"{self._anchor()} {raw}" if raw else raw


class _Aliases(Recipe):
    """The same scalar again by an alias."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._names: dict[str, str] = {}

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        if not raw or not raw.startswith(("!ref ", *"123456789")) or self.text.count(raw) < 2:
            return raw
        if raw in self._names:
            return f"*{self._names[raw]}"
        self._names[raw] = f"same{len(self._names)}"
        return f"&{self._names[raw]} {raw}"


def where_loaded_alike(rewrite: Rewrite) -> Rewrite:
    """A rewriting, where HyperPyYAML makes the same of recipes.

    It resolves from top to bottom, so that order may matter; and not all YAML survives that it writes it anew before.
    """

    def rewritten(files: Files) -> dict[str, str] | None:
        result = rewrite(files)
        if result is None:
            return None
        return result if all(is_loaded_alike(files, result, path) for path, _ in recipes(files)) else None

    return rewritten


def _style(name: str, style: Callable[[str], Recipe], only: tuple[str, ...] = ("ML",)) -> Rewriting:
    return Rewriting(f"recipes: {name}", Kind.RECIPE, where_loaded_alike(each_recipe(style)), only)


def _text(name: str, change: Callable[[str], str], only: tuple[str, ...] = ("ML",)) -> Rewriting:
    return Rewriting(f"recipes: {name}", Kind.RECIPE, where_loaded_alike(each_text(change)), only)


def _begun(text: str, start: str) -> str:
    """A text with another start, behind the head in which Hydra looks for the package."""
    head, rest = re.match(r"((?:[ \t]*(?:#\s*@.*)?\n)*)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"{head}{start}{rest}"


def _with_comments(text: str) -> str:
    """A comment behind each line that has none, where nothing is in quotes or of several lines."""
    if '"' in text or "'" in text or "|" in text or ">-" in text:
        return text
    return re.sub(r"(?m)^(?!.*#)(\s*\S.*)$", r"\1  # as it was", text)


#: A comment is what ML408 asks for, and what ML402 takes for a reason.
_UNCOMMENTED = tuple(f"ML{number}" for number in (1, 2, 3, *range(401, 408)))

REWRITINGS = (
    _style("block style", Recipe),
    _style("flow style", _Flow),
    _style("flow style from the second level on", _InnerFlow),
    _style("flow style over several lines", _SpreadFlow),
    _style("indented by one blank", _ByOne),
    _style("indented by two blanks", _ByTwo),
    _style("indented by eight blanks", _ByEight),
    _style("lists no further in than their keys", _FlatLists),
    _style("blank lines and comments", _SpacedOut, _UNCOMMENTED),
    _style("blanks around colons and at the end of lines", _Blanks),
    _style("the last key first", _Reversed),
    _style("the last top-level key first", _ReversedTop),
    _style("the last argument first", _ReversedArguments),
    _style("keys by the alphabet", _Sorted),
    _style("scalars in quotes", _Quoted),
    _style("scalars in double quotes", _DoubleQuoted),
    _style("scalars by numbers of characters", _Escaped),
    _style("folded scalars", _Folded),
    _style("literal scalars", _Literal),
    _style("scalars on a line of their own", _NextLine),
    _style("keys in quotes", _QuotedKeys),
    _style("keys in single quotes", _SingleQuotedKeys),
    _style("explicit keys", _ExplicitKeys),
    _style("tags in full", _Verbatim),
    _style("tags with escapes", _Percent),
    _style("tags with a handle", _Handles),
    _style("tags on a line of their own", _TagsBelow),
    _style("an anchor on everything", _Anchored),
    _style("anchors and aliases", _Aliases),
    _text("a comment behind each line", _with_comments, _UNCOMMENTED),
    _text("an explicit start", lambda text: _begun(text, "# A recipe\n---\n")),
    _text("an explicit start and end", lambda text: _begun(f"{text}...\n", "%YAML 1.1\n---\n")),
    _text("carriage returns", lambda text: text.replace("\n", "\r\n")),
    _text("a byte order mark", lambda text: f"\ufeff{text}"),
    _text("nothing but carriage returns", lambda text: text.replace("\n", "\r")),
    _text("no end of the last line", lambda text: text.rstrip("\n")),
)
