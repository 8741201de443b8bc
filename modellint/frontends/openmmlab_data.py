"""Reads configurations of OpenMMLab that are YAML or JSON, which is read as YAML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.frontends.openmmlab import ConfigFile
from modellint.frontends.openmmlab_values import BASE, Base
from modellint.frontends.recipe import read_plain
from modellint.graph.recipe import Dialect, Entry, Node, NodeKind, Recipe, Reference, Tag, TagKind
from modellint.source import UnreadableError, decode_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATA = (".yaml", ".yml", ".json")
#: An inherited value, which the loader replaces before it parses the text.
_UNQUOTED = re.compile(r"""(?<!["'])\{\{(\s*_base_\.[\w.]+\s*)\}\}""")
_INHERITED = re.compile(r"\{?\{\s*_base_\.([\w.]+)\s*\}\}?")


def read_data(path: Path, data: bytes) -> ConfigFile | None:
    """The configuration in a YAML or JSON file, whatever its looks; None if it has no mapping at the top."""
    try:
        source = decode_yaml(path, data)
        recipe = read_plain(source, Dialect.OPENMMLAB, _UNQUOTED.sub(r'"{\1}"', source.text))
    except UnreadableError:
        return None
    if recipe is None:
        return None
    root = recipe.root
    named = root.get(BASE)
    bases = () if named is None else tuple(_bases_in(named.value))
    asked: list[Reference] = []
    entries = tuple(Entry(one.key, _inheriting(one.value, asked)) for one in root.entries if one is not named)
    root = Node(NodeKind.MAPPING, root.tag, root.span, entries=entries)
    return ConfigFile(
        Recipe(source, root, Dialect.OPENMMLAB),
        bases,
        tuple(asked),
        unbound=(),
        is_whole=True,
        is_lazy=False,
        is_marked=named is not None,
        changed={},
        others=frozenset(),
    )


def _bases_in(node: Node) -> Iterator[Base]:
    for one in (node,) if node.kind is NodeKind.SCALAR else node.elements:
        yield Base(one.text, one.span)


def _inheriting(node: Node, asked: list[Reference]) -> Node:
    """A node whose strings with braces are what they stand for: an inherited value, or something unknown."""
    if node.kind is NodeKind.MAPPING:
        entries = tuple(Entry(one.key, _inheriting(one.value, asked), one.alias) for one in node.entries)
        return Node(node.kind, node.tag, node.span, entries=entries)
    if node.kind is NodeKind.SEQUENCE:
        return Node(node.kind, node.tag, node.span, elements=tuple(_inheriting(one, asked) for one in node.elements))
    if "{" not in node.text:
        is_text = isinstance(node.scalar, str)
        return Node(node.kind, node.tag, node.span, node.text, plain=False) if is_text else node
    found = _INHERITED.fullmatch(node.text)
    asked.extend(Reference(reference[1], node.span) for reference in _INHERITED.finditer(node.text))
    if found is not None:
        return Node(NodeKind.SCALAR, Tag(TagKind.REF, found[1], "", node.span), node.span, found[1], plain=False)
    return Node(NodeKind.SCALAR, Tag(TagKind.OTHER, "", "", node.span), node.span, plain=False)
