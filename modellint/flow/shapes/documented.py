"""The numbers of dimensions that docstrings tell of parameters: `x: Tensor of shape (batch, length, 64)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modellint.graph.python import Function

#: The most characters of a parameter's description that are read.
_MAX_TEXT = 300
#: A list of sizes, behind the word `shape` or right behind the name and the type.
_SIZES = re.compile(r"\bshapes?\b[^()\[\]\n]{0,12}[(\[]([^()\[\]]*)[)\]]")
_FIRST = re.compile(r"(?:\([^()\n]*\))?\s*:\s*`{0,2}[(\[]([\w*/+ -]+(?:,[\w*/+ -]+)+)[)\]]")
_SIZE = re.compile(r"\w[\w */+-]*")
#: The next entry of a list of parameters.
_ENTRY = re.compile(r"\n\s*(?:[:*-]|\w+\s*(?:\([^()\n]*\))?\s*:|\s*\n)")


def documented_ranks(function: Function) -> dict[str, int]:
    """The number of dimensions of each parameter whose description has one list of sizes, or several of one length."""
    text = function.docstring or ""
    return {
        parameter.name: rank
        for parameter in function.parameters
        if parameter.name in text and (rank := _rank(text, parameter.name)) is not None
    }


def _rank(text: str, name: str) -> int | None:
    start = re.search(rf"(?m)^\s*(?:[*-]\s*|:param\s+(?:\w+\s+)?)?`{{0,2}}{re.escape(name)}`{{0,2}}(?=\s*[(:])", text)
    if start is None:
        return None
    behind = text[start.end() : start.end() + _MAX_TEXT]
    end = _ENTRY.search(behind)
    described = behind[: end.start()] if end is not None else behind
    first = _FIRST.match(described)
    lists = [first[1]] if first is not None else _SIZES.findall(described)
    ranks = {_count(one) for one in lists}
    return next(iter(ranks)) if len(ranks) == 1 else None


def _count(sizes: str) -> int | None:
    """The number of sizes in a list; None if these are no sizes."""
    parts = [part.strip() for part in sizes.strip().rstrip(",").split(",")]
    return len(parts) if all(_SIZE.fullmatch(part) for part in parts) else None
