"""Reads configurations of OpenMMLab that are Python files: the nodes of what their top-level names stand for.

A configuration is a program of assignments. What it does with dictionaries, lists, constants and names is followed, as
`mmengine.config.Config` would run it; nothing is executed, and the rest is unknown.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from modellint.frontends.openmmlab_statements import Reader
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect, Recipe
from modellint.source import UnreadableError, decode_python

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.frontends.openmmlab_values import Base
    from modellint.graph.recipe import Reference

#: What names the files that a configuration inherits from, at the beginning of a line.
_INHERITS = re.compile(rb"^_base_[ \t]*=|^with\b[^\n]*\bread_base\b", re.MULTILINE)
#: A name at the top that stands for a dictionary, or for a list of them.
_HOLDS = re.compile(rb"^\w+[ \t]*=(?:[\s\\(\[]|#[^\n]*\n)*(?:dict\b|\{)", re.MULTILINE)
_TYPE = re.compile(rb"\btype[ \t]*=|[\"']type[\"'][ \t]*:")
#: Statements that hardly any configuration has, but most other programs.
_PROGRAM = re.compile(rb"^(?:class|async)[ \t]", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class ConfigFile:
    """A configuration as written: its recipe, the files that it inherits from, and the keys of them that it asks for.

    `unbound` are names that nothing binds. Not `is_whole`: it may have other top-level keys. `is_lazy`: it imports what
    it inherits, so that its names replace inherited ones. Not `is_marked`: only its contents speak for a configuration.
    """

    recipe: Recipe
    bases: tuple[Base, ...]
    asked: tuple[Reference, ...]
    unbound: tuple[Reference, ...]
    is_whole: bool
    is_lazy: bool
    is_marked: bool
    #: The inherited values that the file changes, by their keys; True for those that it removes.
    changed: dict[str, bool]
    #: The names that it imports, or defines as functions, which lazy configurations inherit as well.
    others: frozenset[str]


def looks_like_openmmlab(data: bytes) -> bool:
    """True if a Python file may be a configuration of OpenMMLab, by its bytes alone."""
    data = _with_plain_lines(data)
    if b"_base_" not in data and b"read_base" not in data:
        if b"type" not in data or _HOLDS.search(data) is None or _TYPE.search(data) is None:
            return False
        return _PROGRAM.search(data) is None
    return _INHERITS.search(data) is not None or (
        _HOLDS.search(data) is not None and _TYPE.search(data) is not None and _PROGRAM.search(data) is None
    )


def _with_plain_lines(data: bytes) -> bytes:
    """The bytes of a file whose lines end with line feeds, without the form feeds that Python passes over."""
    if b"\r" not in data and b"\f" not in data:
        return data
    return re.sub(rb"[ \t]*\f", b"", data.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def read_openmmlab(path: Path, data: bytes) -> ConfigFile | None:
    """The configuration in a Python file, whatever its looks; None if the file is no Python."""
    try:
        source = decode_python(path, data)
        tree = ast.parse(source.text)
    except (UnreadableError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # which the Python frontend tells
    try:
        reader = Reader(source)
        root = reader.read(tree)
    except RecursionError:
        return None
    recipe = Recipe(source, root, Dialect.OPENMMLAB)
    is_marked = _INHERITS.search(_with_plain_lines(data)) is not None
    return ConfigFile(
        recipe,
        tuple(reader.bases),
        tuple(reader.asked),
        tuple(reader.unbound),
        reader.is_whole,
        reader.is_lazy,
        is_marked,
        reader.changed,
        reader.other_names,
    )
