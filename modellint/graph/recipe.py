"""The nodes of a HyperPyYAML file, or of a plain YAML file that names classes to build, each with its place.

A `Recipe` is one file as written: nothing is resolved, and an alias is the very node that its anchor names. What
the file *means* once references, includes and copies are resolved is `modellint.link.recipes.evaluation`.
"""

from __future__ import annotations

import os
import re
from dataclasses import field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.graph.immutable import dataclass
from modellint.source import Place, SourceFile, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The Python value of a scalar.
Scalar = str | int | float | bool | None

#: The pattern of a reference inside a `!ref` or `!copy`.
REFERENCE = re.compile(r"<[^>]*>")

MERGE = "<<"


#: The keys of a plain configuration's mapping that name the callable, and control the call.
TARGET, PARTIAL, ARGUMENTS = "_target_", "_partial_", "_args_"
#: The keys by which jsonargparse, and LightningCLI with it, names a class and its arguments.
CLASS_PATH, INIT_ARGS, DICT_KWARGS = "class_path", "init_args", "dict_kwargs"


class Dialect(Enum):
    """How a recipe is written: in HyperPyYAML, in plain YAML that another program reads, or in Python.

    OMEGACONF has `_target_:` (Hydra), TORCHTUNE `_component_:`, and LATENT `target:` with `params:`; all have `${…}`.
    LIGHTNING_CLI, which is for all programs of jsonargparse, has `class_path:` with `init_args:`,
    and OPENMMLAB `dict(type=…)`.
    """

    HYPERPYYAML = "HyperPyYAML"
    OMEGACONF = "OmegaConf"
    OPENMMLAB = "OpenMMLab"
    TORCHTUNE = "torchtune"
    LATENT = "latent diffusion"
    LIGHTNING_CLI = "LightningCLI"

    __hash__ = object.__hash__  # that of `Enum` is Python code

    @property
    def writing(self) -> Writing:
        """How its files write an object; one of HyperPyYAML is written by its tag."""
        return _WRITINGS[self]


@dataclass(frozen=True)
class Writing:
    """How the files of a dialect write an object: its class under the key `target`, with the arguments beside it.

    With `arguments`, they stand in a mapping under that key. `positional` is the key of those by position, `partial` of
    a flag by which the object is only prepared; `others` control the call, too. Empty keys do not exist.
    """

    target: str = ""
    arguments: str = ""
    positional: str = ""
    partial: str = ""
    others: tuple[str, ...] = ()

    @cached_property
    def reserved_keys(self) -> frozenset[str]:
        """The keys beside the target that are no arguments, and itself."""
        return frozenset((self.target, self.positional, self.partial, *self.others)) - {""}


_WRITINGS = {
    Dialect.HYPERPYYAML: Writing(),
    Dialect.OMEGACONF: Writing(TARGET, "", ARGUMENTS, PARTIAL, ("_recursive_", "_convert_")),
    Dialect.OPENMMLAB: Writing("type", others=("_scope_",)),
    Dialect.TORCHTUNE: Writing("_component_"),
    Dialect.LATENT: Writing("target", "params"),
    Dialect.LIGHTNING_CLI: Writing(CLASS_PATH, INIT_ARGS, others=(DICT_KWARGS,)),
}


class TagKind(Enum):
    """The tags of HyperPyYAML; `OTHER` is any other tag, `NONE` no tag (or one of YAML's own).

    `TARGET` stands for the key of a plain configuration that names a class to build, such as `_target_`.
    """

    NEW = "!new"
    NAME = "!name"
    REF = "!ref"
    COPY = "!copy"
    APPLY = "!apply"
    APPLYREF = "!applyref"
    INCLUDE = "!include"
    TUPLE = "!tuple"
    MODULE = "!module"
    PLACEHOLDER = "!PLACEHOLDER"
    TARGET = "target"
    OTHER = "other"
    NONE = ""


class NodeKind(Enum):
    SCALAR = "scalar"
    SEQUENCE = "sequence"
    MAPPING = "mapping"


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag: `!new:torch.nn.Linear` has the kind NEW and the target `torch.nn.Linear`.

    `text` is the tag itself, however it is written: `!ref` for `!<!ref>`, and `!!int` for `!<tag:yaml.org,2002:int>`.
    """

    kind: TagKind
    target: str
    text: str
    span: Span


NO_TAG = Tag(TagKind.NONE, "", "", Span(1, 1, 1, 1))


@dataclass(frozen=True, slots=True)
class Reference:
    """One `<a[b].c>`: the keys that lead to a node, the attribute asked of it, and where it stands.

    In a plain configuration it is a `${a.b.c}`, which the text is the inside of.
    """

    text: str
    span: Span


def split_reference(text: str) -> tuple[tuple[str, ...], str | None]:
    """`a[b].c` (with or without its angle brackets) as the keys `("a", "b")` and the attribute `c`."""
    path, dot, attribute = text.strip("<>").partition(".")
    return tuple(part.strip("]") for part in path.split("[")), attribute if dot else None


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A key of a mapping and what it leads to."""

    key: Node
    value: Node
    #: Where the value stands if it is an alias of a node that stands elsewhere.
    alias: Span | None = None

    @property
    def span(self) -> Span:
        """The span of the value in its file."""
        return self.alias or self.value.span

    @property
    def name(self) -> Scalar:
        """The key as a Python value; references can only name string keys."""
        return self.key.scalar


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A scalar, sequence or mapping as written; nodes are compared by identity.

    `span` covers the tag and the content. `references` are the `<…>` of a `!ref` or `!copy` and also those that
    stand in an ordinary string, which count only when a reference leads to that string.
    """

    kind: NodeKind
    tag: Tag
    span: Span
    text: str = ""
    plain: bool = True
    flow: bool = False
    references: tuple[Reference, ...] = ()
    entries: tuple[Entry, ...] = ()
    elements: tuple[Node, ...] = ()

    @property
    def scalar(self) -> Scalar:
        """The Python value of an untagged scalar; the text of a tagged or quoted one."""
        if self.tag.text in _TYPED or (self.plain and not self.tag.text):
            return read_scalar(self.text)
        return self.text

    def get(self, name: str) -> Entry | None:
        """The entry of a mapping called `name`, merged ones (`<<`) included."""
        return self.items().get(name)

    def repeated(self) -> Iterator[tuple[Entry, Entry]]:
        """Pairs of entries with the same key in this mapping, the first entry first; `<<` is a key like others.

        Keys are equal where Python finds them equal: `1`, `0x1`, `1.0` and `true` are one key.
        """
        first: dict[Scalar, Entry] = {}
        for entry in self.entries:
            if entry.key.kind is NodeKind.SCALAR and entry.key.tag.kind is TagKind.NONE:
                earlier = first.setdefault(entry.name, entry)
                if earlier is not entry:
                    yield earlier, entry

    def items(self) -> dict[Scalar, Entry]:
        """The entries of a mapping by key: its own first, then those that `<<` adds."""
        entries: dict[Scalar, Entry] = {}
        for entry in self.entries:
            key = entry.key
            if key.plain and key.text == MERGE:
                break
            entries.setdefault(key.scalar, entry)
        else:
            return entries
        entries.clear()
        seen: set[int] = set()
        stack = [self]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            merged: list[Node] = []
            for entry in node.entries:
                if entry.key.plain and entry.key.text == MERGE:
                    merged.extend(entry.value.elements or (entry.value,))
                else:
                    entries.setdefault(entry.name, entry)
            stack.extend(reversed(merged))
        return entries


@dataclass(frozen=True, eq=False)
class Recipe:
    """The nodes of one YAML file.

    `groups` are the classes of mappings that name none, by the keys that lead to them: the program has them.
    """

    source: SourceFile = field(repr=False)
    root: Node = field(repr=False)
    dialect: Dialect = Dialect.HYPERPYYAML
    groups: tuple[tuple[tuple[str, ...], str], ...] = ()

    @property
    def path(self) -> str:
        return self.source.path.as_posix()

    @property
    def file(self) -> Path:
        return self.source.path

    def place(self, span: Span) -> Place:
        return Place(self.path, span)

    def argument(self, node: Node, name: str) -> Entry | None:
        """The entry of an object's mapping that gives an argument."""
        inside = self.dialect.writing.arguments
        given = node.get(inside) if inside else None
        return node.get(name) if not inside else None if given is None else given.value.get(name)

    @cached_property
    def memo(self) -> dict[object, Any]:
        """Results about it that others compute once: by a name, or by the `id` of one of its mappings."""
        return {}

    @cached_property
    def keys(self) -> Mapping[Scalar, Entry]:
        """The top-level entries."""
        return self.root.items()

    def nodes(self) -> Iterator[Node]:
        """Every node of the file, each once, in the order of the document."""
        return below(self.root)

    def includes(self) -> Iterator[Path]:
        """The files that this one includes, in the order of the document."""
        for node in self.nodes():
            if node.tag.kind is TagKind.INCLUDE:
                yield self.included(node)

    def included(self, node: Node) -> Path:
        """The file that an `!include:` names."""
        return Path(os.path.normpath(self.file.parent / node.tag.target))

    def resolve(self, reference: str) -> Node | None:
        """The node of this file that `a[b]` leads to, through references that are nothing but a reference."""
        node = self._find(reference)
        for _ in range(100):
            if node is None or node.tag.kind is not TagKind.REF or not REFERENCE.fullmatch(node.text):
                return node
            node = self._find(node.text)
        return None

    def _find(self, reference: str) -> Node | None:
        keys, attribute = split_reference(reference)
        node = self.root
        for key in keys:
            entry = node.get(key) if node.kind is NodeKind.MAPPING else None
            if entry is None:
                return None
            node = entry.value
        return None if attribute else node


def below(*starts: Node) -> Iterator[Node]:
    """These nodes and all nodes below them, each once, in the order of the document."""
    seen: set[int] = set()
    stack = list(reversed(starts))
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        children = [*node.elements]
        for entry in node.entries:
            children += (entry.key, entry.value)
        stack.extend(reversed(children))


_TYPED = frozenset(("!!int", "!!float", "!!bool", "!!null"))
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_INT = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|[0-9_]+|0x[0-9a-fA-F_]+)")
_FLOAT = re.compile(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)"
    r"|\.(?:nan|NaN|NAN)"
)


def read_scalar(text: str) -> Scalar:
    """The value of a plain scalar under YAML 1.2, which is what HyperPyYAML reads: `yes` is a string."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] not in "+-.0123456789":
        return text
    if _FLOAT.fullmatch(text):
        return _float(text)
    if _INT.fullmatch(text):
        return _int(text)
    return text


def _int(text: str) -> int | str:
    digits = text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    base = {"0b": 2, "0o": 8, "0x": 16}.get(digits[:2], 10)
    try:
        return sign * int(digits[2:] if base != 10 else digits, base)
    except ValueError:
        return text


def _float(text: str) -> float | str:
    try:
        return float(text.replace("_", "").replace(".inf", "inf").replace(".nan", "nan").lower())
    except ValueError:
        return text
