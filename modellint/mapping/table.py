"""Maps for people at a terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING

from modellint.mapping.model import State
from modellint.mapping.views import tables
from modellint.reporters.text import printable, styled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.mapping.model import Map
    from modellint.mapping.views import Cell, Table
    from modellint.reporters import View

_COLOURS = {State.YES: "green", State.MAYBE: "yellow", State.LOOSE: "red", State.UNKNOWN: "yellow"}
_NARROWEST, _WIDEST, _ELSEWHERE = 80, 120, 100
#: Columns are not made narrower than this.
_MIN_COLUMN = 8
_GAP = "  "
#: Where one word ends and the next begins in `ConvolutionFrontEnd`.
_WORD_ENDS = re.compile(r"[a-z0-9](?=[A-Z])")


def lines(chart: Map, view: View) -> Iterator[str]:
    """The map as a table that fits the terminal, between 80 and 120 columns."""
    width = _terminal_width()
    for number, table in enumerate(tables(chart, view)):
        if number:
            yield ""
        yield styled(printable(table.title), view, bold=True)
        if table.subtitle:
            yield from _wrap(printable(table.subtitle), width)
        if table.rows:
            yield ""
            yield from _grid(table, width, view)
        yield ""
        for text in table.loose:
            for line in _wrap(printable(text), width):
                yield styled(line, view, "red")
        for text in table.notes:
            yield from _wrap(printable(text), width)


def _terminal_width() -> int:
    """The width of the terminal, within bounds; 100 where the output goes elsewhere."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS"):
        return _ELSEWHERE
    return min(max(shutil.get_terminal_size((_ELSEWHERE, 24)).columns, _NARROWEST), _WIDEST)


def _grid(table: Table, width: int, view: View) -> Iterator[str]:
    cells = [[printable(cell.text) for cell in row] for row in table.rows]
    widths = _column_widths([list(table.columns), *cells], width - len(_GAP) * (len(table.columns) - 1))
    yield styled(_join_cells(table.columns, widths), view, bold=True)
    for row, texts in zip(table.rows, cells, strict=True):
        wrapped = [_wrap(text, column) for text, column in zip(texts, widths, strict=True)]
        for number in range(max(map(len, wrapped))):
            parts = [lines[number] if number < len(lines) else "" for lines in wrapped]
            yield _row(parts, widths, row, view)


def _row(parts: Sequence[str], widths: Sequence[int], cells: Sequence[Cell], view: View) -> str:
    shown: list[str] = []
    for number, (text, width, cell) in enumerate(zip(parts, widths, cells, strict=True)):
        padding = " " * (width - _cells(text))
        colour = None if cell.state is None else _COLOURS.get(cell.state)
        marked = styled(text, view, colour, bold=cell.state is State.LOOSE) if text else text
        shown.append(padding + marked if cell.is_number else marked + (padding if any(parts[number + 1 :]) else ""))
    return _GAP.join(shown).rstrip()


def _join_cells(texts: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()


def _column_widths(rows: list[list[str]], width: int) -> list[int]:
    """The widths of columns: as wide as needed if there is room; else the widest shrink first."""
    widths = [max(_cells(row[number]) for row in rows) for number in range(len(rows[0]))]
    least = [min(max(_MIN_COLUMN, _cells(head)), wanted) for head, wanted in zip(rows[0], widths, strict=True)]
    while sum(widths) > width:
        shrinkable = [number for number, wanted in enumerate(widths) if wanted > least[number]]
        if not shrinkable:
            break
        widths[max(shrinkable, key=lambda number: widths[number])] -= 1
    return widths


def _wrap(text: str, width: int) -> list[str]:
    """Lines of at most `width` cells, broken at spaces, else after dots, brackets and words, else anywhere."""
    lines: list[str] = []
    while _cells(text) > width:
        end = _end(text, width)
        breaks = [text.rfind(" ", 0, end + 1), *(text.rfind(mark, 0, end) + 1 for mark in "._[/,")]
        breaks += [match.end() for match in _WORD_ENDS.finditer(text, 0, end)]
        best = breaks[0] if breaks[0] > 0 else max(breaks[1:])
        at = best if best > width // 3 else end
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*lines, text] if text or not lines else lines


def _end(text: str, width: int) -> int:
    """The number of characters of a text that fit into `width` cells, at least one."""
    if text.isascii():
        return width
    used = 0
    for number, char in enumerate(text):
        used += _cells(char)
        if used > width:
            return max(number, 1)
    return len(text)


def _cells(text: str) -> int:
    """The number of a terminal's columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
