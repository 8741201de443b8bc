"""Recipes that are written in another way.

A recipe is composed to nodes and written again, with each scalar as it stands in the text. Recipes with comments (which
may say what belongs there), aliases, texts of several lines, or no mapping at the top are left alone.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from rewriting.marks import MARK
from rewriting.rewriting import Kind, Rewriting, changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewriting.marks import Files

_STANDARD = "tag:yaml.org,2002:"
_TEXT = f"{_STANDARD}str"
_HYPERPYYAML = re.compile(r"!(?:new|name|ref|apply|module|include|copy)\b")
_UNSAFE_IN_FLOW = frozenset("[]{},")


class _LeftAloneError(Exception):
    """A recipe that cannot be written in this way."""


@dataclass
class _Recipe:
    """A recipe that is written again, in a style that subclasses choose."""

    text: str
    marks: dict[int, str] = field(init=False)
    _placed: set[str] = field(init=False, default_factory=set)
    indent: int = 4

    def __post_init__(self) -> None:
        found = ((number, MARK.search(line)) for number, line in enumerate(self.text.splitlines()))
        self.marks = {number: match[1] for number, match in found if match}

    def written(self) -> str:
        """The recipe in this style. Raises _LeftAloneError if it has something that cannot be written."""
        try:
            events = list(yaml.parse(self.text, Loader=yaml.SafeLoader))
            root = yaml.compose(self.text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            raise _LeftAloneError from error
        if any(isinstance(event, yaml.AliasEvent) for event in events) or not isinstance(root, yaml.MappingNode):
            raise _LeftAloneError
        if any(getattr(event, "anchor", None) for event in events) or _tag(root):
            raise _LeftAloneError
        if "#" in MARK.sub("", self.text):
            raise _LeftAloneError
        lines = self.block(root, 0)
        if self._placed != set(self.marks.values()):
            raise _LeftAloneError
        return "\n".join([*lines, ""])

    def mark(self, node: yaml.Node) -> str:
        """The mark of the line that a node starts on: if it becomes several lines, of each of them."""
        mark = self.marks.get(node.start_mark.line, "")
        self._placed |= {mark} - {""}
        return mark

    def entries(self, node: yaml.MappingNode, depth: int) -> list[tuple[yaml.Node, yaml.Node]]:
        return list(node.value)

    def scalar(self, node: yaml.ScalarNode) -> str:
        return self.raw(node)

    def raw(self, node: yaml.ScalarNode) -> str:
        """A scalar as it stands in the text, with its tag."""
        raw = self.text[node.start_mark.index : node.end_mark.index]
        if "\n" in raw:
            raise _LeftAloneError
        return raw

    def key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise _LeftAloneError
        return self.raw(node)

    def tag(self, node: yaml.Node) -> str:
        return _tag(node)

    def before(self, depth: int) -> list[str]:
        """Lines before an entry."""
        return []

    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        return not node.value

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        """The lines of a collection in block style."""
        lines: list[str] = []
        blanks = " " * self.indent * depth
        if isinstance(node, yaml.MappingNode):
            for key, value in self.entries(node, depth):
                lines += self.before(depth)
                lines += self._part(f"{blanks}{self.key(key)}:", key, value, depth)
        else:
            for item in node.value:
                lines += self._part(f"{blanks}-", item, item, depth)
        return lines

    def _part(self, head: str, start: yaml.Node, value: yaml.Node, depth: int) -> list[str]:
        marks = [self.mark(start)]
        if isinstance(value, yaml.ScalarNode):
            rest = [self.scalar(value)]
            inner: list[str] = []
            marks.append(self.mark(value))
        elif self.is_flow(value, depth):
            rest, inner = [self.flow(value, marks)], []
        else:
            rest, inner = [self.tag(value)], self.block(value, depth + 1)
        line = " ".join([head, *(part for part in rest if part)])
        numbers = " ".join(dict.fromkeys(filter(None, marks)))
        return [f"{line}  # mark: {numbers}" if numbers else line, *inner]

    def flow(self, node: yaml.Node, marks: list[str]) -> str:
        """A node in flow style, on one line; its marks are added to those of the line."""
        marks.append(self.mark(node))
        if isinstance(node, yaml.ScalarNode):
            raw = self.scalar(node)
            if node.style is None and _UNSAFE_IN_FLOW & set(node.value):
                return _quoted(node)
            return raw or "null"
        tag = f"{self.tag(node)} " if self.tag(node) else ""
        if isinstance(node, yaml.SequenceNode):
            return f"{tag}[{', '.join(self.flow(item, marks) for item in node.value)}]"
        parts = []
        for key, value in node.value:
            marks.append(self.mark(key))
            parts.append(f"{self.key(key)}: {self.flow(value, marks)}")
        return f"{tag}{{{', '.join(parts)}}}"


def _tag(node: yaml.Node) -> str:
    return "" if node.tag.startswith(_STANDARD) else node.tag


def _quoted(node: yaml.ScalarNode) -> str:
    """A scalar whose text is in quotes."""
    value = node.value.replace("'", "''")
    return f"{_tag(node)} '{value}'".lstrip()


class _Reversed(_Recipe):
    """The last key first. A key that stands twice would mean something else."""

    def mark(self, node: yaml.Node) -> str:
        """The mark of the line that a node starts on: if it becomes several lines, of each of them."""
        mark = self.marks.get(node.start_mark.line, "")
        self._placed |= {mark} - {""}
        return mark

    def entries(self, node: yaml.MappingNode, depth: int) -> list[tuple[yaml.Node, yaml.Node]]:
        names = [key.value for key, _ in node.value]
        if len(set(map(str, names))) < len(names) or "<<" in names:
            raise _LeftAloneError
        return list(reversed(node.value))


class _Flow(_Recipe):
    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        return True


class _InnerFlow(_Recipe):
    """Flow style from the second level on."""

    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        return depth > 0 or not node.value


class _ByTwo(_Recipe):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.indent = 2


class _SpacedOut(_Recipe):
    def before(self, depth: int) -> list[str]:
        return ["", f"{' ' * self.indent * depth}# and then"]


class _QuotedScalars(_Recipe):
    """Texts and what is tagged in quotes."""

    def scalar(self, node: yaml.ScalarNode) -> str:
        is_text = node.tag == _TEXT or (_tag(node) and node.value)
        return _quoted(node) if node.style is None and is_text else self.raw(node)


class _QuotedKeys(_Recipe):
    def key(self, node: yaml.Node) -> str:
        raw = super().key(node)
        return f'"{raw}"' if raw.isidentifier() and node.tag == _TEXT else raw


class _Verbatim(_Recipe):
    """Tags in full: `!<!new:torch.nn.Linear>`."""

    def tag(self, node: yaml.Node) -> str:
        return f"!<{_tag(node)}>" if _tag(node) else ""

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        return f"{self.tag(node)}{raw.removeprefix(_tag(node))}" if _tag(node) else raw


class _Anchors(_Recipe):
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


class _ByReference(_Recipe):
    """Numbers by references to keys of their own."""

    def written(self) -> str:
        self._keys = dict[str, str]()
        if not _HYPERPYYAML.search(self.text):
            raise _LeftAloneError
        written = super().written()
        return "".join(f"{name}: {raw}\n" for raw, name in self._keys.items()) + written

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        if not raw.isdigit() or node.start_mark.column < 2 or self.text.splitlines()[node.start_mark.line][0] != " ":
            return raw
        name = self._keys.setdefault(raw, f"number_{raw}")
        return f"!ref <{name}>"


class _OnceMore(_Recipe):
    """References to keys that are references. These stand above: HyperPyYAML does not resolve one that stands below."""

    def written(self) -> str:
        self._keys = dict[str, str]()
        if not _HYPERPYYAML.search(self.text):
            raise _LeftAloneError
        written = super().written()
        return "".join(f"{name}: {raw}\n" for raw, name in self._keys.items()) + written

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        name = raw.removeprefix("!ref <").removesuffix(">")
        if not raw.startswith("!ref <") or not name.isidentifier() or Counter(self.text.split())[f"{name}:"] < 1:
            return raw
        return f"!ref <{self._keys.setdefault(raw, f'again_{name}')}>"


def _each_recipe(style: Callable[[str], _Recipe]) -> Callable[[Files], dict[str, str] | None]:
    """A rewriting of each recipe by itself; those that cannot be written so stay as they are."""

    def rewrite(files: Files) -> dict[str, str] | None:
        result = dict(files)
        for path, text in files.items():
            if path.endswith((".yaml", ".yml")):
                try:
                    result[path] = style(text).written()
                except _LeftAloneError:
                    continue
        return changed(files, result)

    return rewrite


def _each_text(change: Callable[[str], str]) -> Callable[[Files], dict[str, str] | None]:
    def rewrite(files: Files) -> dict[str, str] | None:
        recipes = {path: change(text) for path, text in files.items() if path.endswith((".yaml", ".yml"))}
        return changed(files, {**files, **recipes})

    return rewrite


def _included(files: Files) -> dict[str, str] | None:
    """A mapping that refers to nothing outside in a file of its own."""
    result = dict(files)
    for path, text in files.items():
        if not path.endswith((".yaml", ".yml")) or not _HYPERPYYAML.search(text):
            continue
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError:
            continue
        for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
            part = text[value.start_mark.index : value.end_mark.index]
            lines = text[key.start_mark.index : value.end_mark.index].splitlines()
            if not isinstance(value, yaml.MappingNode) or _tag(value) or value.flow_style or "<" in part or "*" in part:
                continue
            blanks = " " * value.start_mark.column
            folder = f"{path.rpartition('/')[0]}/" if "/" in path else ""
            other = f"{key.value}_part.yaml"
            result[folder + other] = "".join(f"{line.removeprefix(blanks)}\n" for line in lines[1:] if line.strip())
            head = f"{key.value}: !include:{other}"
            result[path] = f"{text[: key.start_mark.index]}{head}\n{text[value.end_mark.index :]}"
            break
    return changed(files, result)


def _recipes(name: str, style: Callable[[str], _Recipe], only: tuple[str, ...] = ("ML",)) -> Rewriting:
    return Rewriting(f"recipes: {name}", Kind.RECIPE, _each_recipe(style), only)


def _texts(name: str, change: Callable[[str], str]) -> Rewriting:
    return Rewriting(f"recipes: {name}", Kind.RECIPE, _each_text(change), only=("ML",))


REWRITINGS = (
    _recipes("block style", _Recipe),
    _recipes("flow style", _Flow),
    _recipes("flow style from the second level on", _InnerFlow),
    _recipes("indented by two blanks", _ByTwo),
    # A comment is what ML408 asks for.
    _recipes("blank lines and comments", _SpacedOut, tuple(f"ML{number}" for number in (1, 2, 3, *range(401, 408)))),
    _recipes("the last key first", _Reversed),
    _recipes("scalars in quotes", _QuotedScalars),
    _recipes("keys in quotes", _QuotedKeys),
    _recipes("tags in full", _Verbatim),
    _recipes("anchors and aliases", _Anchors),
    _recipes("numbers by reference", _ByReference),
    _recipes("references to references", _OnceMore),
    _texts("an explicit start", lambda text: f"# A recipe\n---\n{text}"),
    _texts("an explicit start and end", lambda text: f"%YAML 1.1\n---\n{text}...\n"),
    _texts("carriage returns", lambda text: text.replace("\n", "\r\n")),
    Rewriting("recipes: a part that is included", Kind.RECIPE, _included, only=("ML",)),
)
