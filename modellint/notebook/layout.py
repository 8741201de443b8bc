"""The places of cells' sources in a notebook's JSON, character by character.

The standard library's parser, which reads notebooks, tells no places. This one trusts it: it is only asked about text
that has been read.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from modellint.source import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.source import Span

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_NEXT = re.compile(rf'[^"\[\]{{}}]*(?:({_STRING})|([\[{{])|([\]}}]))', re.DOTALL)
_SCALAR = re.compile(rf"{_STRING}|[^\s,\[\]{{}}]+", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*")
_PIECE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """One character of a cell's source: its spelling in the JSON, that one's offset, and the index of its string."""

    char: str
    raw: str
    start: int
    literal: int

    @property
    def end(self) -> int:
        return self.start + len(self.raw)


@dataclass(frozen=True, slots=True)
class Literal:
    """A JSON string: the offsets of its quotes, the second one excluded."""

    start: int
    end: int


@dataclass(frozen=True)
class Value:
    """The source of a cell: one string, or a list of strings; and the offsets of the value's start and end."""

    start: int
    end: int
    is_list: bool
    literals: tuple[Literal, ...]
    pieces: tuple[Piece, ...]

    @cached_property
    def text(self) -> str:
        return "".join(piece.char for piece in self.pieces)


class Layout:
    """The JSON of a notebook, without a byte order mark."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _cells(self) -> list[int]:
        """The offsets at which cells begin."""
        top = dict(self._members(self._skip_space(0)))
        lists = [top.get("cells")]
        if not self._is_list(lists[0]):  # nbformat 3
            sheets = [sheet for sheet in self._items(top["worksheets"]) if self.text[sheet] == "{"]
            lists = [dict(self._members(sheet)).get("cells") for sheet in sheets]
        return [cell for at in lists if at is not None and self._is_list(at) for cell in self._items(at)]

    def _is_list(self, at: int | None) -> bool:
        return at is not None and self.text[at] == "["

    @cached_property
    def _line_starts(self) -> list[int]:
        return list(accumulate(map(len, split_lines(self.text)), initial=0))

    def cell_position(self, number: int) -> tuple[int, int]:
        """The line and the column where a cell (from 1) begins."""
        return self.position(self._cells[number - 1])

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character of the JSON."""
        line = bisect_right(self._line_starts, offset, hi=max(len(self._line_starts) - 1, 1))
        return line, offset - self._line_starts[line - 1] + 1

    def source(self, number: int) -> Value:
        """The source of a code cell (from 1)."""
        members = dict(self._members(self._cells[number - 1]))
        start = members["source"] if "source" in members else members["input"]
        is_list = self.text[start] == "["
        starts = list(self._items(start)) if is_list else [start]
        literals = tuple(Literal(at, self._skip(at)) for at in starts)
        pieces = tuple(piece for index, literal in enumerate(literals) for piece in self._pieces(literal, index))
        return Value(start, self._skip(start), is_list, literals, pieces)

    def extent(self, number: int, span: Span) -> tuple[int, int]:
        """The offsets in the JSON of the start and end of a span in a cell's source."""
        value = self.source(number)
        starts = list(accumulate(map(len, split_lines(value.text)), initial=0))

        def offset(line: int, column: int) -> int:
            return min(starts[min(line, len(starts)) - 1] + column - 1, len(value.pieces))

        first, last = offset(span.line, span.column), offset(span.end_line, span.end_column)
        if not value.pieces:
            return value.start, value.start
        start = value.pieces[first].start if first < len(value.pieces) else value.pieces[-1].end
        return start, value.pieces[last - 1].end if last > first else start

    def quoted(self, text: str) -> str:
        """A text as a part of a JSON string, in ASCII if all of the file is."""
        return json.dumps(text, ensure_ascii=self.text.isascii())[1:-1]

    def _pieces(self, literal: Literal, index: int) -> Iterator[Piece]:
        for match in _PIECE.finditer(self.text, literal.start + 1, literal.end - 1):
            raw = match[0]
            char = json.loads(f'"{raw}"', strict=False) if raw.startswith("\\") else raw
            yield Piece(char, raw, match.start(), index)

    def _members(self, at: int) -> Iterator[tuple[str, int]]:
        """The keys of the object at an offset, each with the offset of its value."""
        at = self._skip_space(at + 1)
        while self.text[at : at + 1] == '"':
            end = self._skip(at)
            key = json.loads(self.text[at:end], strict=False)
            value = self._skip_space(self._skip_space(end) + 1)
            yield key, value
            at = self._skip_space(self._skip(value))
            if self.text[at : at + 1] == ",":
                at = self._skip_space(at + 1)

    def _items(self, at: int) -> Iterator[int]:
        """The offsets of the elements of the list at an offset."""
        at = self._skip_space(at + 1)
        while self.text[at : at + 1] not in ("]", ""):
            yield at
            at = self._skip_space(self._skip(at))
            if self.text[at] == ",":
                at = self._skip_space(at + 1)

    def _skip(self, at: int) -> int:
        """The end of the value that begins at `at`."""
        if self.text[at] not in "[{":
            match = _SCALAR.match(self.text, at)
            return at if match is None else match.end()
        depth = 0
        while True:
            match = _NEXT.match(self.text, at)
            assert match is not None, "read as JSON before"
            at = match.end()
            depth += (match[2] is not None) - (match[3] is not None)
            if depth == 0:
                return at

    def _skip_space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return at if match is None else match.end()
