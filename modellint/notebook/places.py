"""Translate places: from files that cells write to the notebook's module, and from there to cells and lines."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.edits.changes import Change, EditError
from modellint.finding import Edit, Related
from modellint.notebook.layout import Layout
from modellint.notebook.reading import read
from modellint.results.suppressions import in_python, in_yaml
from modellint.source import NOTEBOOK, YAML, Place, Span, UnreadableError, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modellint.claims import Claim
    from modellint.finding import Finding
    from modellint.notebook.reading import Cell, Notebook, Part
    from modellint.reading.files import Files
    from modellint.results.suppressions import Suppression
    from modellint.source import SourceFile


def into_notebook(finding: Finding, path: Path, parts: Sequence[Part]) -> Finding:
    """A finding with places in files that cells of the notebook `path` write translated to its module."""
    by_path = {part.path.as_posix(): part for part in parts}

    def moved(place: Place) -> Place:
        part = by_path.get(place.path)
        return place if part is None else Place(path.as_posix(), part.outer(place.span))

    return with_places(finding, moved) if parts else finding


def out_of_notebook(finding: Finding, path: Path, parts: Sequence[Part]) -> Finding:
    """A finding with places in lines that cells of the notebook `path` write translated to the written files."""

    def moved(place: Place) -> Place:
        for part in parts if place.path == path.as_posix() else ():
            span = part.inner(place.span) if place.span.line in part.lines else None
            if span is not None:
                return Place(part.path.as_posix(), span)
        return place

    return with_places(finding, moved) if parts else finding


def with_places(
    finding: Finding, moved: Callable[[Place], Place], edited: Callable[[Edit], Edit] | None = None
) -> Finding:
    """The finding with `moved` applied to its places, and `edited` (by default `moved` as well) to its fix's edits."""
    change = edited or (lambda edit: Edit(moved(edit.place), edit.text))
    fix, claim = finding.fix, finding.claim
    return replace(
        finding,
        place=moved(finding.place),
        related=tuple(Related(moved(other.place), other.message) for other in finding.related),
        fix=None if fix is None else replace(fix, edits=tuple(map(change, fix.edits))),
        claim=None if claim is None else _move_claim(claim, moved),
    )


def _move_claim(claim: Claim, move: Callable[[Place], Place]) -> Claim:
    from modellint.claims import moved

    return moved(claim, move)


def suppressions_in(path: Path, data: bytes) -> tuple[Suppression, ...]:
    """The comments in a notebook that silence findings. Raises UnreadableError."""
    book = read(data)
    found = list(in_python(book.module(path).source))
    for part in book.files(path):
        comments = (in_yaml if kind_of(part.path.name) == YAML else in_python)(part.source)
        within = part.lines[0], part.lines[-1]
        found += (
            replace(comment, span=part.outer(comment.span), within=within if comment.whole_file else None)
            for comment in comments
        )
    return tuple(found)


def alone(path: Path, data: bytes, finding: Finding) -> tuple[SourceFile, Finding, Callable[[Edit], Edit]]:
    """The part of the notebook `path` that a finding is in, the finding there, and the map of edits to the notebook.

    Raises EditError for a notebook that cannot be read.
    """
    try:
        part = read(data).part_at(path, finding.span)
    except UnreadableError as error:
        raise EditError(error.reason) from None
    inner = replace(finding, place=Place(part.path.as_posix(), part.inner(finding.span) or finding.span))
    return part.source, inner, lambda edit: Edit(Place(path.as_posix(), part.outer(edit.place.span)), edit.text)


class Locator:
    """Translates places in notebooks to cells and lines, and to the JSON on disk; other places stay as they are.

    What is wrong with a notebook that cannot be read is at a place in its JSON from the beginning.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._layouts: dict[str, Layout] = {}

    def finding(self, finding: Finding) -> Finding:
        """A finding by cell and line."""
        if not any(kind_of(place.path) == NOTEBOOK for place in finding.places):
            return finding
        return with_places(finding, self.place, self.edit)

    def place(self, place: Place) -> Place:
        """A place by cell and line; one that reaches beyond its cell ends with it."""
        book = None if place.cell else self._read(place.path)
        cell = None if book is None else book.cell_at(place.span.line)
        return place if cell is None else _within(place, cell)

    def edit(self, edit: Edit) -> Edit:
        """An edit by cell and line."""
        book = None if edit.place.cell else self._read(edit.place.path)
        if book is None:
            return edit
        try:
            cell, change = change_of(book, edit)
        except EditError:
            return Edit(self.place(edit.place), edit.text)
        starts = list(accumulate(map(len, cell.lines), initial=0))
        span = Span(*_position(change.start, starts), *_position(change.end, starts))
        return Edit(Place(edit.place.path, span, cell.number), change.text)

    def lines(self, path: str, number: int) -> list[str]:
        """The lines of a cell; none if it is not there."""
        book = self._read(path)
        return next((cell.lines for cell in book.cells if cell.number == number), []) if book is not None else []

    def on_disk(self, place: Place) -> Place:
        """The place in the file of a place in a cell; the file's beginning if it cannot be read."""
        if not place.cell:
            return place
        layout = self._layout(place.path)
        if layout is None:
            return Place(place.path, Span(1, 1, 1, 1))
        start, end = layout.extent(place.cell, place.span)
        return Place(place.path, Span(*layout.position(start), *layout.position(end)))

    def edit_on_disk(self, edit: Edit) -> Edit:
        """An edit of a cell as one of the file."""
        layout = self._layout(edit.place.path) if edit.place.cell else None
        text = edit.text if layout is None else layout.quoted(edit.text)
        return Edit(self.on_disk(edit.place), text)

    def _read(self, path: str) -> Notebook | None:
        data = self._files.read(Path(path)) if kind_of(path) == NOTEBOOK else None
        try:
            return None if data is None else read(data)
        except UnreadableError:
            return None

    def _layout(self, path: str) -> Layout | None:
        if path not in self._layouts:
            data = self._files.read(Path(path))
            if data is None or self._read(path) is None:
                return None
            self._layouts[path] = Layout(data.decode("utf-8-sig"))
        return self._layouts[path]


def change_of(book: Notebook, edit: Edit) -> tuple[Cell, Change]:
    """The cell that an edit of a notebook's module changes, and how. Raises EditError if it is no part of one cell.

    What stands on the empty line before a cell stands behind the last line of the cell before it, which need not have
    an end.
    """
    span = edit.place.span
    cell = book.cell_at(span.line)
    if cell is not None and span.line < cell.first and cell is not book.cells[0]:
        cell = book.cell_at(span.line - 1)
    if cell is None:
        raise EditError(f"line {span.line} is in no cell")
    start, end = _offset(cell, span.line, span.column), _offset(cell, span.end_line, span.end_column)
    text, length = edit.text, len(cell.source)
    if end > length:
        text = text.removesuffix("\n")
        start, end, text = (length, length, f"\n{text}") if start > length else (start, length, text)
    return cell, Change(start, end, text)


def _offset(cell: Cell, line: int, column: int) -> int:
    lines = cell.lines
    number = line - cell.first
    if number < 0:
        return 0
    if number > len(lines) or (number == len(lines) and column > 1):
        raise EditError("it reaches beyond a cell")
    offset = sum(map(len, lines[:number])) + column - 1
    is_open = number > 0 and number == len(lines) and not cell.source.endswith(("\n", "\r"))
    return offset + is_open


def _position(offset: int, starts: Sequence[int]) -> tuple[int, int]:
    line = bisect_right(starts, offset, hi=max(len(starts) - 1, 1))
    return line, offset - starts[line - 1] + 1


def _within(place: Place, cell: Cell) -> Place:
    lines = cell.lines or [""]
    span, last = place.span, len(lines)
    line = min(max(span.line - cell.first + 1, 1), last)
    end_line, end_column = span.end_line - cell.first + 1, span.end_column
    if not line <= end_line <= last:
        end_line, end_column = last, len(lines[-1].rstrip("\r\n")) + 1
    return Place(place.path, Span(line, span.column, end_line, end_column), cell.number)
