"""Formatted strings as they may be written since Python 3.12 (PEP 701), and template strings (PEP 750).

Found in text alone, since no interpreter before 3.12 can tell where such a string ends: in its replacement fields stand
quotes of the same kind, backslashes, comments and line breaks.
"""

from __future__ import annotations

import re
from functools import cached_property

from modellint.graph.immutable import dataclass

#: How deep formatted strings may be nested; Python allows 149.
_MAX_DEPTH = 100

_MARK = re.compile(
    r"""
      (?P<comment> \#[^\n]* )
    | (?P<string> (?<!\w)(?P<prefix>[bBfFrRtTuU]{0,2})(?P<quote>\"{3}|'{3}|"|') | (?<=\w)(?P<bare>\"{3}|'{3}|"|') )
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
    | (?P<joined> \\\n )
    | (?P<newline> \n )
    | (?P<operator> [!=<>]= )
    | (?P<stop> [!:=] )
    | (?P<comma> , )
    """,
    re.VERBOSE,
)
#: The rest of a string that is not formatted, by its quotes.
_REST = {
    '"': re.compile(r'[^"\\\n]*(?:\\[\s\S][^"\\\n]*)*"'),
    "'": re.compile(r"[^'\\\n]*(?:\\[\s\S][^'\\\n]*)*'"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""'),
    "'''": re.compile(r"[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*'''"),
}
#: The parts of a formatted string that are no plain text, by its quotes.
_SPECIAL = {
    quote: re.compile(rf"[{{}}\\]|{quote}" + ("" if len(quote) == 3 else r"|\n")) for quote in ('"', "'", '"""', "'''")
}
_SHOWN = re.compile(r"=(?:\s|#[^\n]*\n)*")
_CONVERSION = re.compile(r"!\s*([A-Za-z])\s*")


@dataclass(frozen=True, slots=True)
class Text:
    """Text of a formatted string, from `start` up to `end` (offsets from 0, as everywhere here)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Field:
    """A replacement field, braces included.

    The expression ends before `stop`. `elements` are those of a tuple without parentheses, 0 for anything else; it
    `trails` if a comma is its end. `shown` is where the text ends that a `=` asks for.
    """

    start: int
    end: int
    stop: int
    elements: int
    trails: bool
    shown: int | None
    conversion: int
    spec: Spec | None


@dataclass(frozen=True, slots=True)
class Spec:
    """The format specification behind the colon at `start` of a field."""

    start: int
    end: int
    pieces: tuple[Text | Field, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One string with its quotes; `pieces` is None where it is not formatted."""

    start: int
    end: int
    prefix: str
    quote: str
    pieces: tuple[Text | Field, ...] | None


@dataclass(frozen=True)
class Joined:
    """Adjacent strings that make one value; some of them are formatted."""

    parts: tuple[Part, ...]

    @property
    def start(self) -> int:
        return self.parts[0].start

    @property
    def end(self) -> int:
        return self.parts[-1].end

    @cached_property
    def is_template(self) -> bool:
        return any("t" in part.prefix for part in self.parts)


class Scan:
    """The strings and comments of a text whose lines end at LF. Raises SyntaxError where it makes no sense of it."""

    def __init__(self, text: str) -> None:
        self.joined: list[Joined] = []
        #: The spans of comments, and of strings that are not part of a formatted string.
        self.opaque: list[tuple[int, int]] = []
        self._text = text
        self._depth = 0
        self._code(0, in_field=False)

    def _code(self, at: int, *, in_field: bool) -> tuple[int, int, bool]:
        """Read code up to its end; in a field, up to the token that ends its expression.

        Returns that place, how many commas stand between the parts of the expression, and whether it ends with one.
        """
        text, start = self._text, at
        depth = commas = 0
        trails = False
        group: list[Part] = []
        while (match := _MARK.search(text, at)) is not None:
            if text[at : match.start()].strip():
                self._take(group)
                trails = False
            at, kind = match.end(), match.lastgroup
            if kind == "comment":
                self.opaque.append(match.span())
            elif kind == "string":
                group.append(self._string(match))
                at, trails = group[-1].end, False
            elif kind == "joined" or (kind == "newline" and (depth or in_field)):
                continue
            else:
                self._take(group)
                if depth == 0 and in_field and (kind == "stop" or (kind == "close" and match[0] == "}")):
                    return match.start(), commas, trails
                trails = kind == "comma"
                if kind == "open":
                    depth += 1
                elif kind == "close":
                    depth = max(depth - 1, 0)
                elif trails and depth == 0:
                    commas += 1
        if in_field:
            raise SyntaxError(f"a replacement field is never closed ({start})")
        self._take(group)
        return len(text), commas, trails

    def _take(self, group: list[Part]) -> None:
        """Store a group of adjacent strings, and begin a new one."""
        if not group:
            return
        if any(part.pieces is not None for part in group):
            self.joined.append(Joined(tuple(group)))
        else:
            self.opaque.extend((part.start, part.end) for part in group)
        group.clear()

    def _string(self, match: re.Match[str]) -> Part:
        prefix, quote = (match["prefix"] or "").lower(), match["quote"] or match["bare"]
        if "f" in prefix or "t" in prefix:
            pieces, end = self._pieces(match.end(), quote, "r" in prefix, in_spec=False)
            return Part(match.start(), end, prefix, quote, pieces)
        rest = _REST[quote].match(self._text, match.end())
        if rest is None:
            raise SyntaxError(f"a string is never closed ({match.start()})")
        return Part(match.start(), rest.end(), prefix, quote, None)

    def _pieces(self, at: int, quote: str, is_raw: bool, *, in_spec: bool) -> tuple[tuple[Text | Field, ...], int]:
        """Text and fields up to the closing quote (of a specification, its brace), and the offset behind that."""
        text, start = self._text, at
        pieces: list[Text | Field] = []
        while (match := _SPECIAL[quote].search(text, at)) is not None:
            at, found = match.end(), match[0]
            following = text[at : at + 1]
            if found == "\\":
                if following == "N" and text.startswith("{", at + 1) and not is_raw:
                    at = text.find("}", at) + 1 or len(text)
                elif following not in ("{", "}"):
                    at += 1
            elif found in ("{", "}") and following == found and not in_spec:
                at += 1
            elif found == "{":
                if start < match.start():
                    pieces.append(Text(start, match.start()))
                pieces.append(self._field(match.start(), quote, is_raw))
                start = at = pieces[-1].end
            elif found == ("}" if in_spec else quote):
                if start < match.start():
                    pieces.append(Text(start, match.start()))
                return tuple(pieces), match.start() if in_spec else at
            else:
                break
        raise SyntaxError(f"a formatted string is never closed ({start})")

    def _field(self, start: int, quote: str, is_raw: bool) -> Field:
        if self._depth == _MAX_DEPTH:
            raise SyntaxError("formatted strings are nested too deeply")
        self._depth += 1
        text = self._text
        stop, commas, trails = self._code(start + 1, in_field=True)
        at, shown, conversion, spec = stop, None, -1, None
        if (match := _SHOWN.match(text, at)) is not None:
            at = shown = match.end()
        if (match := _CONVERSION.match(text, at)) is not None:
            at, conversion = match.end(), ord(match[1])
        if text.startswith(":", at):
            pieces, end = self._pieces(at + 1, quote, is_raw, in_spec=True)
            at, spec = end, Spec(at, end, pieces)
        if not text.startswith("}", at):
            raise SyntaxError(f"a replacement field is never closed ({start})")
        self._depth -= 1
        elements = commas + (not trails) if commas else 0
        return Field(start, at + 1, stop, elements, trails, shown, conversion, spec)
