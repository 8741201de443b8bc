"""The numbers of dimensions that docstrings and comments tell: `x: Tensor of shape (batch, 64)`, `# [B, 64, T]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value

#: The most characters of a parameter's description that are read.
_MAX_TEXT = 300
#: A list of sizes, behind the word `shape` or right behind the name and the type.
_SIZES = re.compile(r"\bshapes?\b[^()\[\]\n]{0,12}[(\[]([^()\[\]]*)[)\]]")
_FIRST = re.compile(r"(?:\([^()\n]*\))?\s*:\s*`{0,2}[(\[]([\w*/+ -]+(?:,[\w*/+ -]+)+)[)\]]")
_SIZE = re.compile(r"\w[\w */+-]*")
#: A comment that is a list of sizes behind code; one that names a parameter before; one behind a parameter.
_BEHIND = re.compile(r"#\s*(?:[-=]>|shape:?|\w+\s*[:=])?\s*[(\[]([^()\[\]]*)[)\]]\s*\.?\s*$")
_ABOVE = re.compile(r"\s*#\s*`?(\w+)`?(?:\.shape|\.size\(\)|\s+shape|\s+is)?\s*[:=]?\s*[(\[]([^()\[\]]*)[)\]]")
_IN_SIGNATURE = re.compile(r"\s*(\w+)\b[^#]*#\s*(?:shape:?)?\s*[(\[]([^()\[\]]*)[)\]]")
#: What each of these three has.
_COMMENT = re.compile(r"[(\[][^()\[\]]*,[^()\[\]]*[)\]]")
_NAMED_SIZE = re.compile(r"\w+(?:\s*[*/+-]+\s*\w+)*")
#: The next entry of a list of parameters.
_ENTRY = re.compile(r"\n\s*(?:[:*-]|\w+\s*(?:\([^()\n]*\))?\s*:|\s*\n)")


def documented_ranks(function: Function) -> dict[str, int]:
    """The number of dimensions of each parameter that has one list of sizes, or several of one length.

    The list stands in the parameter's description, behind it in the signature, or in a comment above the code.
    """
    text = function.docstring or ""
    found = {
        parameter.name: rank
        for parameter in function.parameters
        if parameter.name in text and (rank := _rank(text, parameter.name)) is not None
    }
    return {**_in_comments(function), **found}


def commented_ranks(function: Function) -> Iterator[tuple[Value, Event, int]]:
    """The values that a function assigns with a list of sizes as a comment, `x = self.conv(x)  # [B, 64, T]`."""
    lines = _lines(function)
    for event in function.flow.events if lines else ():
        value = event.value
        line = lines.get(value.end_line, "")
        if value.op is not Op.CALL or value.target is None or "#" not in line:
            continue
        sizes = _BEHIND.search(line)
        rank = None if sizes is None else _count_of_comment(sizes[1])
        if rank is not None and line.lstrip().startswith(f"{value.target} ="):
            yield value, event, rank


def _lines(function: Function) -> dict[int, str]:
    """The lines of a function that have comments with lists, by their numbers."""
    if function.line == 0:
        return {}
    written = function.module.as_written(function.line, function.end_line, _COMMENT)
    return {number: line for number, line in enumerate(written, function.line) if "," in line.partition("#")[2]}


def _in_comments(function: Function) -> dict[str, int]:
    """The number of dimensions of each parameter that a comment in the signature, or above the code, tells."""
    lines = _lines(function)
    if not lines:
        return {}
    first = min((event.value.line for event in function.flow.events), default=function.end_line)
    names = {parameter.name for parameter in function.parameters}
    found: dict[str, set[int | None]] = {}
    for number, line in lines.items():
        told = _ABOVE.match(line) or _IN_SIGNATURE.match(line) if number < first else None
        if told is not None and told[1] in names:
            found.setdefault(told[1], set()).add(_count_of_comment(told[2]))
    only = {name: ranks.pop() for name, ranks in found.items() if len(ranks) == 1}
    return {name: rank for name, rank in only.items() if rank is not None}


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


def _count_of_comment(sizes: str) -> int | None:
    """The number of sizes in a comment: several names or numbers, one of which is short, a number or the batch."""
    parts = [part.strip() for part in sizes.strip().rstrip(",").split(",")]
    if len(parts) < 2 or not all(_NAMED_SIZE.fullmatch(part) for part in parts):
        return None
    is_told = any(len(part) <= 2 or part.isdigit() or part.lower().startswith("batch") for part in parts)
    return len(parts) if is_told else None
