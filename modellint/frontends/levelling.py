"""Rewrite text in a newer grammar so that an older parser reads it, with every other character in its place.

New syntax becomes old syntax of the same length: a formatted string the tuple of its expressions, a list of type
parameters blanks. `modellint.frontends.newer` restores the meaning in the tree.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING

from modellint.frontends.formatted import Field, Scan
from modellint.graph.immutable import dataclass
from modellint.source import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.frontends.formatted import Joined, Text

_GAP = r"(?:[ \t\f]|\\\n)"
_GENERIC = re.compile(rf"(?<![\w.])(def|class){_GAP}+[^\W\d]\w*{_GAP}*\[")
_ALIAS = re.compile(
    rf"(?<![\w.])type{_GAP}+(?!(?:and|as|else|for|if|in|is|not|or)\b)[^\W\d]\w*{_GAP}*(?:\[|(?==(?!=)))"
)
_CALL = re.compile(rf"{_GAP}*\(")
_EXCEPT = re.compile(rf"(?<![\w.])except(?!\w){_GAP}*(?:(\*){_GAP}*)?")
_BRACKET = re.compile(r"[()\[\]{}]")
_STEP = re.compile(r"[()\[\]{},:]|(?<!\\)\n|(?<![\w.])except(?!\w)")
#: A star before an item of a subscript, or before the annotation of `*args` (PEP 646, Python 3.11).
_STARRED = re.compile(
    rf"(?<=[\w)\]])({_GAP}*\[|\[[^\[\](){{}}]*,)\s*(\*)(?![*=])|\*{_GAP}*[^\W\d]\w*\s*:\s*(\*)(?![*=])"
)
#: Blanks that stand for one character: as many as it has bytes.
_BLANKS = {size: " " * size for size in range(1, 5)}


@dataclass
class Levelled:
    """A text whose lines end at LF, with its rewritten parts; places are offsets into it."""

    original: str
    joined: list[Joined]
    aliases: list[int] = field(default_factory=list)
    stars: list[int] = field(default_factory=list)
    #: The offsets at which the exceptions of a clause without parentheses begin and end, and their number.
    handlers: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._characters = list(self.original)
        lines = split_lines(self.original)
        self._starts = list(accumulate(map(len, lines[:-1]), initial=0))
        self._is_ascii = self.original.isascii()

    @property
    def text(self) -> str:
        """The older text; each character stands at the byte where it was."""
        return "".join(self._characters)

    @property
    def aligned(self) -> str:
        """The older text; each character stands at the character where it was."""
        return "".join(character[:1] for character in self._characters)

    def place(self, offset: int) -> tuple[int, int]:
        """The line of a character, from 1, and the byte in it, from 0."""
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return line, offset - start if self._is_ascii else len(self.original[start:offset].encode())

    def holds(self, at: int, character: str) -> bool:
        return self._characters[at] == character

    def put(self, at: int, character: str) -> None:
        self._characters[at] = character

    def blank(self, start: int, end: int) -> None:
        """Blanks for everything but the ends of lines."""
        for at in range(start, end):
            character = self.original[at]
            if character != "\n":
                self._characters[at] = " " if character < "\x80" else _BLANKS[len(character.encode())]


def levelled(text: str) -> Levelled:
    """A text whose lines end at LF, in the grammar of Python 3.10. Raises SyntaxError where it makes no sense."""
    scan = Scan(text)
    result = Levelled(text, scan.joined)
    for joined in scan.joined:
        _level_strings(joined, result)
    code = masked(text, scan)
    for match in _outermost(_GENERIC, code):
        _level_parameters(code, match, result)
    for match in _outermost(_ALIAS, code):
        _level_alias(code, match, result)
    for match in _EXCEPT.finditer(code):
        _level_handler(code, match, result)
    if sys.version_info < (3, 11):
        for match in _STARRED.finditer(code):
            at = match.start(match.lastindex or 0)
            if result.holds(at, "*"):
                result.put(at, "-")
                result.stars.append(at)
    return result


def _level_strings(joined: Joined, result: Levelled) -> None:
    """`f"a {x!r} {y}"` to `(   x,   y, )`."""

    def blank(pieces: Iterable[Text | Field], start: int, end: int) -> None:
        at = start
        for piece in pieces:
            if not isinstance(piece, Field):
                continue
            result.blank(at, piece.start + 1)
            if not piece.trails:
                commas.append(piece.stop)
            at = piece.stop
            if piece.spec is not None:
                result.blank(at, piece.spec.start)
                blank(piece.spec.pieces, piece.spec.start, piece.spec.end)
                at = piece.spec.end
        result.blank(at, end)

    commas: list[int] = []
    for part in joined.parts:
        blank(part.pieces or (), part.start, part.end)
    for comma in commas:
        result.put(comma, ",")
    result.put(joined.start, "(")
    result.put(joined.end - 1, ")")


def masked(text: str, scan: Scan) -> str:
    """A text with blanks for the strings and comments that a scan has found."""
    spans = [*scan.opaque, *((joined.start, joined.end) for joined in scan.joined)]
    parts = []
    at = 0
    for start, end in sorted(spans):
        if start >= at:  # not within another one
            parts += [text[at:start], re.sub(r"[^\n]", " ", text[start:end])]
            at = end
    return "".join((*parts, text[at:]))


def _outermost(pattern: re.Pattern[str], code: str) -> Iterator[re.Match[str]]:
    """The matches that do not stand in the brackets that an earlier one opens."""
    at = 0
    while (match := pattern.search(code, at)) is not None:
        yield match
        at = _closing(code, match.end() - 1) if match[0].endswith("[") else match.end()


def _closing(code: str, at: int) -> int:
    """The bracket that closes the one at `at`."""
    depth = 0
    for match in _BRACKET.finditer(code, at):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return match.start()
    raise SyntaxError("a bracket is never closed")


def _level_parameters(code: str, match: re.Match[str], result: Levelled) -> None:
    """`def f[T](x)` to `def f(   x)`, and `class A[T]:` to `class A( ):`."""
    at = match.end() - 1
    end = _closing(code, at) + 1
    result.blank(at, end)
    result.put(at, "(")
    call = _CALL.match(code, end)
    if call is not None:
        result.put(call.end() - 1, " ")
    elif match[1] == "class":
        result.put(end - 1, ")")


def _level_alias(code: str, match: re.Match[str], result: Levelled) -> None:
    """`type X[T] = x` to `0;   X[0] = x`."""
    if code[match.end() - 1] == "[":
        end = _closing(code, match.end() - 1)
        first = re.compile(r"\S").search(code, match.end(), end)
        if first is None or not re.compile(rf"{_GAP}*=(?!=)").match(code, end + 1):
            return
        result.blank(match.end(), end)
        result.put(first.start(), "0")
    result.blank(match.start(), match.start() + len("type"))
    result.put(match.start(), "0")
    result.put(match.start() + 1, ";")
    result.aliases.append(match.start())


def _level_handler(code: str, match: re.Match[str], result: Levelled) -> None:
    """`except A, B:` to `except A| B:`, and on Python 3.10 `except* A:` to `except  A:`."""
    if match[1] and sys.version_info < (3, 11):
        result.put(match.start(1), " ")
    depth = 0
    commas = []
    for step in _STEP.finditer(code, match.end()):
        if step[0] == "except":
            return
        if step[0] in "([{":
            depth += 1
        elif depth:
            depth -= step[0] in ")]}"
        elif step[0] == ",":
            commas.append(step.start())
        else:
            break
    if not commas or step[0] != ":":
        return
    trails = not code[commas[-1] + 1 : step.start()].strip()
    for comma in commas:
        result.put(comma, "|")
    end = commas[-1] + 1
    if trails:
        result.put(commas[-1], " ")
    else:
        end = len(code[: step.start()].rstrip())
    result.handlers.append((match.end(), end, len(commas) + (not trails)))
