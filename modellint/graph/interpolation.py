"""The `${…}` of plain YAML configurations, as OmegaConf's grammar reads them.

A node interpolation leads to another node: `${a.b}`, `${a[b]}` and `${a.0}` from the root of the configuration, `${.b}`
from the mapping or sequence that holds the string, `${..b}` from one further out. A resolver `${name:…}` is called with
arguments when the program runs. `\\${` is no interpolation.
"""

from __future__ import annotations

import re

from modellint.graph.immutable import dataclass

OPEN = "${"
MISSING = "???"
_BLANK = " \t"
_MAX_DEPTH = 20
_KEY = re.compile(r"[^\\{}()\[\]:. \t'\"]+")
#: The opening of an interpolation, with the backslashes in front of it, which may escape it.
_OPENING = re.compile(r"(\\*)\$\{")


@dataclass(frozen=True, slots=True)
class Interpolation:
    """One `${…}` at `start` to `end` (exclusive) of a text.

    A node interpolation has `dots` in front and at least one key, which may be an interpolation itself. A resolver has
    neither; `arguments` are the interpolations among what it is called with.
    """

    start: int
    end: int
    dots: int = 0
    keys: tuple[str | Interpolation, ...] = ()
    arguments: tuple[Interpolation, ...] = ()

    @property
    def is_resolver(self) -> bool:
        return not self.keys


class _RefusedError(Exception):
    """OmegaConf's grammar does not allow this text."""


def parse(text: str) -> tuple[str | Interpolation, ...] | None:
    """A string as pieces of plain text and interpolations, in order; None if OmegaConf refuses it."""
    pieces: list[str | Interpolation] = []
    position = 0
    try:
        while (match := _OPENING.search(text, position)) is not None:
            slashes = len(match[1])
            before = text[position : match.start()] + "\\" * (slashes // 2)
            if slashes % 2:
                pieces.append(before + OPEN)
                position = match.end()
                continue
            if before:
                pieces.append(before)
            interpolation = _interpolation(text, match.end() - len(OPEN), 0)
            pieces.append(interpolation)
            position = interpolation.end
    except (_RefusedError, IndexError):
        return None
    if position < len(text):
        pieces.append(text[position:])
    return tuple(pieces)


def _interpolation(text: str, start: int, depth: int) -> Interpolation:
    """The interpolation that opens at `start`. Raises _RefusedError or IndexError where the grammar has none."""
    if depth > _MAX_DEPTH:
        raise _RefusedError
    at = _blanks(text, start + len(OPEN))
    dots = at
    while text[at] == ".":
        at += 1
    dots = at - dots
    keys: list[str | Interpolation] = []
    is_bracketed = False
    while True:
        bracket = text[at] == "["
        if not bracket and keys and text[at] != ".":
            break
        if bracket or keys:
            at += 1
        key, at = _key(text, at, depth)
        if bracket:
            if text[at] != "]":
                raise _RefusedError
            at += 1
            is_bracketed = True
        keys.append(key)
    at = _blanks(text, at)
    if text[at] == "}":
        return Interpolation(start, at + 1, dots, tuple(keys))
    if text[at] == ":" and not dots and not is_bracketed:
        arguments = [key for key in keys if isinstance(key, Interpolation)]
        end = _values(text, at + 1, depth, arguments)
        return Interpolation(start, end, arguments=tuple(arguments))
    raise _RefusedError


def _key(text: str, at: int, depth: int) -> tuple[str | Interpolation, int]:
    if text.startswith(OPEN, at):
        inner = _interpolation(text, at, depth + 1)
        return inner, inner.end
    match = _KEY.match(text, at)
    if match is None:
        raise _RefusedError
    return match[0], match.end()


def _values(text: str, at: int, depth: int, found: list[Interpolation]) -> int:
    """The end of a resolver's arguments (behind its `}`); appends the interpolations among them to `found`."""
    braces = 0
    quote = ""
    while True:
        character = text[at]
        if text.startswith(OPEN, at):
            inner = _interpolation(text, at, depth + 1)
            found.append(inner)
            at = inner.end
            continue
        if character == "\\":
            at += 3 if text.startswith(OPEN, at + 1) else 2
            continue
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "{":
            braces += 1
        elif character == "}":
            if not braces:
                return at + 1
            braces -= 1
        at += 1


def _blanks(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at
