"""Recipes with other nodes, of which HyperPyYAML makes the same: references, copies, sums, merges, includes."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import yaml

from rewriting.meaning import parameters_of
from rewriting.recipe_writing import LeftAloneError, Recipe, each_recipe, recipes, tag_of
from rewriting.recipes import where_loaded_alike
from rewriting.rewriting import Kind, Rewriting, changed

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewriting.marks import Files

_HYPERPYYAML = re.compile(r"!(?:new|name|ref|apply|module|include|copy)\b")


class _Moved(Recipe):
    """A recipe in HyperPyYAML, with lines that come first."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _HYPERPYYAML.search(self.text):
            raise LeftAloneError
        #: Lines, with the marks of what was made of them.
        self.above: dict[str, set[str] | None] = {}

    def head(self) -> list[str]:
        return [f"{line}  # mark: {' '.join(sorted(marks))}" if marks else line for line, marks in self.above.items()]


class _ByReference(_Moved):
    """Numbers inside of objects by references to keys of their own."""

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        if not raw.isdigit() or node.start_mark.column < 2 or self.text.splitlines()[node.start_mark.line][0] != " ":
            return raw
        return self.number(raw)

    def number(self, raw: str) -> str:
        self.above[f"number_{raw}: {raw}"] = None
        return f"!ref <number_{raw}>"


class _ByAlias(_ByReference):
    def number(self, raw: str) -> str:
        self.above[f"number_{raw}: &number_{raw} {raw}"] = None
        return f"*number_{raw}"


class _ByCopy(_ByReference):
    def number(self, raw: str) -> str:
        return super().number(raw).replace("!ref", "!copy")


class _ByForeignName(_ByReference):
    """By a key in another alphabet."""

    def number(self, raw: str) -> str:
        self.above[f"größe_{raw}: {raw}"] = None
        return f"!ref <größe_{raw}>"


class _ByTextInQuotes(_ByReference):
    def number(self, raw: str) -> str:
        return super().number(raw).replace("<", "'<") + "'"


class _ByEntry(_ByReference):
    """By an entry of a mapping."""

    def number(self, raw: str) -> str:
        self.above[f"  n{raw}: {raw}"] = None
        return f"!ref <numbers[n{raw}]>"

    def head(self) -> list[str]:
        return ["numbers:", *self.above] if self.above else []


class _ByProduct(_ByReference):
    def number(self, raw: str) -> str:
        return super().number(raw) + " * 1"


class _BySum(_ByReference):
    def number(self, raw: str) -> str:
        if int(raw) < 2:
            return raw
        return super().number(str(int(raw) - 1)) + " + 1"


class _ByChain(_ByReference):
    def number(self, raw: str) -> str:
        super().number(raw)
        self.above[f"same_{raw}: !ref <number_{raw}>"] = None
        return f"!ref <same_{raw}>"


class _OtherDigits(_ByReference):
    def number(self, raw: str) -> str:
        return hex(int(raw))


class _OnceMore(_Moved):
    """References to keys that are references. These stand above: HyperPyYAML does not resolve one that stands below."""

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        name = raw.removeprefix("!ref <").removesuffix(">")
        if not raw.startswith("!ref <") or not name.isidentifier() or Counter(self.text.split())[f"{name}:"] < 1:
            return raw
        mark = self.marks.get(node.start_mark.line)
        self.above[f"again_{name}: {raw}"] = (self.above.get(f"again_{name}: {raw}") or set()) | {mark} - {None}
        return f"!ref <again_{name}>"


class _MadeBelow(_Moved):
    """Objects at the end of the recipe, with a reference where each stood."""

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        if depth:
            return super().block(node, depth)
        lines, below = [], []
        for key, value in self.entries(node, depth):
            name = self.name(key)
            if tag_of(value).startswith("!new:") and not isinstance(value, yaml.ScalarNode):
                lines.append(f"{name}: !ref <made_{name}>")
                below += self._part(f"made_{name}:", key, value, depth)
            else:
                lines += self._part(f"{name}:", key, value, depth)
        return [*lines, *below]


class _MadeInModules(_Moved):
    """Objects where `modules` refers to them, and a reference where each stood."""

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        if depth:
            return super().block(node, depth)
        modules = next((value for key, value in node.value if key.value == "modules"), None)
        if not isinstance(modules, yaml.MappingNode):
            return super().block(node, depth)
        objects = {key.value: (key, value) for key, value in node.value if tag_of(value).startswith("!new:")}
        taken = {}
        for key, value in modules.value:
            name = str(value.value).removeprefix("<").removesuffix(">")
            if tag_of(value) == "!ref" and name in objects and name not in taken.values():
                taken[key.value] = name
        lines = ["modules:"]
        for key, value in modules.value:
            name = taken.get(key.value, "")
            lines += self._part(f"    {self.name(key)}:", *(objects[name] if name else (key, value)), 1)
        for key, value in self.entries(node, depth):
            inside = next((inner for inner, name in taken.items() if name == key.value), None)
            if inside is not None:
                lines.append(f"{key.value}: !ref <modules[{inside}]>")
            elif value is not modules:
                lines += self._part(f"{self.name(key)}:", key, value, depth)
        return lines


class _Merged(_Moved):
    """Arguments of objects that are numbers, by a merge of a mapping with an anchor."""

    value_of_merge = "*{}"

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        numbers = [] if not tag_of(node) or "<<" in str(node.value) else self._numbers(node)
        if not numbers:
            return super().block(node, depth)
        name = f"arguments_{node.start_mark.line}"
        self.above[f"{name}: &{name}"] = None
        self.above.update(
            dict.fromkeys(f"  {self.name(key)}: {self.raw(value)}  # of {name}" for key, value in numbers)
        )
        blanks = " " * self.indent * depth
        lines = [f"{blanks}<<: {self.value_of_merge.format(name)}"]
        for entry in node.value:
            if entry not in numbers:
                lines += self._part(f"{blanks}{self.key(entry[0])}", *entry, depth)
        return lines

    def _numbers(self, node: yaml.CollectionNode) -> list[tuple[yaml.Node, yaml.Node]]:
        """The entries that are numbers and that nothing is to be found at."""
        entries = node.value if isinstance(node, yaml.MappingNode) else ()
        return [
            entry for entry in entries if entry[1].tag.endswith(":int") and not self.marks.get(entry[0].start_mark.line)
        ]


class _MergedList(_Merged):
    """The same by a list of mappings."""

    value_of_merge = "[*{0}, *{0}]"


class _Empty(_Moved):
    """Objects without arguments, with an empty mapping of them."""

    arguments = "{}"

    def scalar(self, node: yaml.ScalarNode) -> str:
        raw = self.raw(node)
        return f"{raw} {self.arguments}" if tag_of(node).startswith("!new:") and not node.value else raw


class _EmptyList(_Empty):
    arguments = "[]"


class _Listed(_Moved):
    """Arguments of torch's own layers by position."""

    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        return not node.value or self._positions(node) is not None

    def _positions(self, node: yaml.Node) -> list[tuple[yaml.Node, yaml.Node]] | None:
        names = parameters_of(tag_of(node)) if isinstance(node, yaml.MappingNode) else None
        given = {key.value: (key, value) for key, value in node.value} if names else {}
        ordered = [given[name] for name in names or () if name in given]
        is_start = [str(key.value) for key, _ in ordered] == list(names or ())[: len(ordered)]
        return ordered if ordered and is_start and len(ordered) == len(node.value) else None

    def flow(self, node: yaml.Node, marks: list[str], depth: int = 1) -> str:
        positions = self._positions(node)
        if positions is None:
            return super().flow(node, marks, depth)
        marks.append(self.mark(node))
        marks.extend(self.mark(key) for key, _ in positions)
        return f"{self.tag(node)} [{', '.join(self.flow(value, marks, depth + 1) for _, value in positions)}]"


class _Named(_Listed):
    """Arguments of torch's own layers by keyword."""

    def _positions(self, node: yaml.Node) -> None:
        return None

    def is_flow(self, node: yaml.Node, depth: int) -> bool:
        return not node.value

    def block(self, node: yaml.CollectionNode, depth: int) -> list[str]:
        names = parameters_of(tag_of(node)) if isinstance(node, yaml.SequenceNode) else None
        if not names or len(names) < len(node.value):
            return super().block(node, depth)
        blanks = " " * self.indent * depth
        return [
            line
            for name, item in zip(names, node.value, strict=False)
            for line in self._part(f"{blanks}{name}:", item, item, depth)
        ]


def _included(files: Files) -> dict[str, str] | None:
    """A mapping that refers to nothing outside in a file of its own."""
    return _with_part(files, lambda part: (part, ""))


def _included_with_overrides(files: Files) -> dict[str, str] | None:
    """The same, with other numbers in the file, and the right ones beside the tag."""

    def overridden(part: str) -> tuple[str, str]:
        numbers = re.findall(r"(?m)^([a-z_]+): (\d+)$", part)
        changed_part = re.sub(r"(?m)^([a-z_]+): (\d+)$", r"\1: 1\2", part)
        return changed_part, "".join(f"\n    {name}: {number}" for name, number in numbers)

    return _with_part(files, overridden)


def _with_part(files: Files, split: Callable[[str], tuple[str, str]]) -> dict[str, str] | None:
    result = dict(files)
    for path, text in recipes(files):
        if not _HYPERPYYAML.search(text):
            continue
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError:
            continue
        for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
            part = text[value.start_mark.index : value.end_mark.index]
            lines = text[key.start_mark.index : value.end_mark.index].splitlines()
            if (
                not isinstance(value, yaml.MappingNode)
                or tag_of(value)
                or value.flow_style
                or "<" in part
                or "*" in part
            ):
                continue
            blanks = " " * value.start_mark.column
            folder = f"{path.rpartition('/')[0]}/" if "/" in path else ""
            other = f"{key.value}_part.yaml"
            inner, overrides = split("".join(f"{line.removeprefix(blanks)}\n" for line in lines[1:] if line.strip()))
            result[folder + other] = inner
            head = f"{key.value}: !include:{other}{overrides}"
            result[path] = f"{text[: key.start_mark.index]}{head}\n{text[value.end_mark.index :]}"
            break
    return changed(files, result)


def _numbers_included(files: Files) -> dict[str, str] | None:
    """Numbers in a file of their own that is included under a key, and references to its entries."""
    result = dict(files)
    for path, text in recipes(files):
        if not _HYPERPYYAML.search(text) or "!include" in text:
            continue
        numbers = dict.fromkeys(re.findall(r"(?m)^ +[a-z_]+: (\d+)(?=$|  # mark)", text))
        if numbers:
            folder = f"{path.rpartition('/')[0]}/" if "/" in path else ""
            result[f"{folder}numbers.yaml"] = "".join(f"n{number}: {number}\n" for number in numbers)
            by_reference = re.sub(r"(?m)^( +[a-z_]+: )(\d+)(?=$|  # mark)", r"\1!ref <numbers[n\2]>", text)
            result[path] = f"numbers: !include:numbers.yaml\n{by_reference}"
    return changed(files, result)


def _moved(name: str, style: Callable[[str], Recipe]) -> Rewriting:
    return Rewriting(f"recipes: {name}", Kind.RECIPE_MOVE, where_loaded_alike(each_recipe(style)), only=("ML",))


REWRITINGS = (
    _moved("numbers by reference", _ByReference),
    _moved("numbers by alias", _ByAlias),
    _moved("numbers by a copy", _ByCopy),
    _moved("numbers by a name in another alphabet", _ByForeignName),
    _moved("numbers by a reference in quotes", _ByTextInQuotes),
    _moved("numbers by an entry of a mapping", _ByEntry),
    _moved("numbers as products", _ByProduct),
    _moved("numbers as sums", _BySum),
    _moved("numbers by references to references", _ByChain),
    _moved("numbers with other digits", _OtherDigits),
    _moved("references to references", _OnceMore),
    _moved("objects made at the end", _MadeBelow),
    _moved("objects made in modules", _MadeInModules),
    _moved("arguments by a merge", _Merged),
    _moved("arguments by a merge of several", _MergedList),
    _moved("no arguments in a mapping", _Empty),
    _moved("no arguments in a list", _EmptyList),
    _moved("arguments by position", _Listed),
    _moved("arguments by keyword", _Named),
    Rewriting("recipes: a part that is included", Kind.RECIPE_MOVE, where_loaded_alike(_included), only=("ML",)),
    Rewriting(
        "recipes: a part that is included with overrides",
        Kind.RECIPE_MOVE,
        where_loaded_alike(_included_with_overrides),
        only=("ML",),
    ),
    Rewriting(
        "recipes: numbers that are included", Kind.RECIPE_MOVE, where_loaded_alike(_numbers_included), only=("ML",)
    ),
)
