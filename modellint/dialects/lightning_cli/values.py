"""Scalars as jsonargparse reads them, and the types that take them.

Sources: jsonargparse 4.53, `_loaders_dumpers.py` (PyYAML's resolver, with floats of its own) and `_typehints.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from modellint.graph.interpolation import OPEN
from modellint.graph.recipe import NodeKind, TagKind

if TYPE_CHECKING:
    from modellint.graph.recipe import Node, Scalar

_WORDS = {
    word: value
    for value, names in ((True, ("yes", "true", "on")), (False, ("no", "false", "off")))
    for name in names
    for word in (name, name.title(), name.upper())
}
NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_FLOAT = re.compile(
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|\.[0-9_]+(?:[eE][-+][0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_INT = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)")
_SIXTIES = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
#: The first letters of a text that may be a list or a mapping in YAML.
_NESTED = ("[", "{")


class UnknownValueError(Exception):
    """The value of a node depends on more than its text."""


def scalar_of(node: Node, interpolates: bool = True) -> Scalar:
    """The value of a scalar node.

    Raises UnknownValueError for one with a tag, and for an interpolation if the program may resolve it.
    """
    if node.tag.kind is not TagKind.NONE or node.tag.text or (interpolates and OPEN in node.text):
        raise UnknownValueError
    return read_text(node.text) if node.plain else node.text


def read_text(text: str) -> Scalar:
    """The value of a plain scalar. Raises UnknownValueError for a number in a rare notation."""
    if text in NULLS:
        return None
    if text in _WORDS:
        return _WORDS[text]
    if _SIXTIES.fullmatch(text):
        raise UnknownValueError
    digits = text.replace("_", "")
    if _INT.fullmatch(text):
        body = digits.lstrip("+-")
        base = (
            2
            if body.startswith("0b")
            else 16
            if body.startswith("0x")
            else 8
            if len(body) > 1 and body[0] == "0"
            else 10
        )
        return int(digits.replace("0b", "").replace("0x", ""), base)
    if _FLOAT.fullmatch(text):
        return float(digits.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text


def is_plain(value: Scalar, name: str) -> bool:
    """True if a type of this name takes a value; a text is read once more for any type but `str`."""
    if isinstance(value, str) and name not in ("str", "Path"):
        if not value.strip() or value.strip().startswith(_NESTED):
            return False
        try:
            value = read_text(value.strip())
        except UnknownValueError:
            return True
    match name:
        case "str" | "Path":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float":
            return isinstance(value, int | float) and not isinstance(value, bool)
    return value is None


def is_one_of(value: Scalar, values: tuple[Scalar, ...], *, is_enum: bool) -> bool:
    """True if a `Literal`, or an enum by the names of its members, takes a value."""
    if is_enum:
        return isinstance(value, str) and value in values
    if value in values:
        return True
    if not isinstance(value, str):
        return False
    kinds = {"None" if one is None else type(one).__name__ for one in values} - {"str"}
    try:
        return bool(kinds) and read_text(value) in values
    except UnknownValueError:
        return True


def plain_data(node: Node, most: int) -> Any:
    """A node as plain data, as jsonargparse loads it. Raises UnknownValueError, also for more than so many nodes."""
    left = most

    def read(node: Node) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise UnknownValueError
        if node.kind is NodeKind.SCALAR:
            return scalar_of(node, interpolates=False)
        if node.kind is NodeKind.SEQUENCE:
            return [read(element) for element in node.elements]
        return {str(name): read(entry.value) for name, entry in node.items().items()}

    return read(node)


def may_nest(node: Node) -> bool:
    """True if a scalar may hold a list or a mapping as text, or names a file that does."""
    text = node.text.strip()
    return text.startswith(_NESTED) or OPEN in text or "/" in text or text.endswith((".yaml", ".yml", ".json", ".txt"))
