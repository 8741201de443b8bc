"""Move the findings of the last valid text into the present one, to where their code is now, if it is still there."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.reading.decoding import decode_code
from modellint.source import NOTEBOOK, YAML, SourceFile, Span, UnreadableError, decode_yaml, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from modellint.finding import Finding, Fix
    from modellint.source import Place


class Typed:
    """The move of findings from the contents `before`, by path, to the present ones, `now`."""

    def __init__(self, before: Mapping[str, bytes], now: Callable[[Path], bytes | None]) -> None:
        self._before = before
        self._now = now
        self._changes: dict[str, _Change | None] = {}

    def finding(self, finding: Finding) -> Finding | None:
        """A finding at its code's present place; None if the code is gone. It cannot be confirmed."""
        place = self._place(finding.place)
        if place is None:
            return None
        related = ((self._place(one.place), one) for one in finding.related)
        return replace(
            finding,
            place=place,
            related=tuple(replace(one, place=at) for at, one in related if at is not None),
            fix=None if finding.fix is None else self._fix(finding.fix),
            claim=None,
        )

    def place(self, place: Place) -> Place | None:
        """A place at its code's present place; None if the code is gone."""
        return self._place(place)

    def _fix(self, fix: Fix) -> Fix | None:
        """A fix at its code's present place; None if a line that it edits has changed."""
        edits = [(self._place(edit.place, whole_lines=True), edit) for edit in fix.edits]
        moved = tuple(replace(edit, place=place) for place, edit in edits if place is not None)
        return replace(fix, edits=moved) if len(moved) == len(edits) else None

    def _place(self, place: Place, *, whole_lines: bool = False) -> Place | None:
        if place.path not in self._changes:
            self._changes[place.path] = self._change(place.path)
        change = self._changes[place.path]
        span = place.span if change is None else change.span(place.span, whole_lines=whole_lines)
        return None if span is None else replace(place, span=span)

    def _change(self, path: str) -> _Change | None:
        """The change of a file; None if it has not changed, or cannot be decoded."""
        before, now = self._before.get(path), self._now(Path(path))
        if before is None or before == now:
            return None
        old, new = _decode(path, before), _decode(path, now or b"")
        return None if old is None or new is None else _Change(old, new)


class _Change:
    """The move from one text to another: equal lines at the beginning and the end keep together.

    Between these a line has moved that each of the texts has once.
    """

    def __init__(self, old: SourceFile, new: SourceFile) -> None:
        self._old, self._new = old, new
        self._before, self._now = ([line.rstrip("\r\n") for line in source.lines] for source in (old, new))
        before, now = self._before, self._now
        most = min(len(before), len(now))
        #: The number of equal lines at the beginning, and at the end.
        self._head = next((number for number in range(most) if before[number] != now[number]), most)
        most -= self._head
        self._tail = next((number for number in range(most) if before[-1 - number] != now[-1 - number]), most)
        self._shift = len(now) - len(before)

    def span(self, span: Span, *, whole_lines: bool) -> Span | None:
        """The present span; None if the code is gone, or, with `whole_lines`, if its lines have changed."""
        if span.end_line <= self._head:
            return span
        if span.line > len(self._before) - self._tail:
            return _move_span(span, self._shift)
        lines = self._before[span.line - 1 : span.end_line]
        moved = _move_span(span, self._moves.get(span.line, 0))
        if lines and self._now[moved.line - 1 : moved.end_line] == lines:
            return moved
        if whole_lines:
            return None
        text = self._old.text_of(span)
        there = (at for at in (span, _move_span(span, self._shift)) if at.line > 0 and self._new.text_of(at) == text)
        return next(there, None) if text else None

    @cached_property
    def _moves(self) -> dict[int, int]:
        """The distance by which lines between the two ends have moved."""
        before, now = (
            {line: number for line, number in _numbered_lines(lines, self._head, self._tail).items() if number}
            for lines in (self._before, self._now)
        )
        return {number: now[line] - number for line, number in before.items() if line in now}


def _numbered_lines(lines: list[str], head: int, tail: int) -> dict[str, int]:
    """The lines between the two ends, each with its number, or 0 if it occurs twice."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines[head : len(lines) - tail], head + 1):
        found[line] = 0 if line in found else number
    return found


def _move_span(span: Span, lines: int) -> Span:
    return replace(span, line=span.line + lines, end_line=span.end_line + lines)


def _decode(path: str, data: bytes) -> SourceFile | None:
    """A file with the lines that places count; None for a notebook that cannot be read."""
    try:
        return (decode_yaml if kind_of(path) == YAML else decode_code)(Path(path), data)
    except UnreadableError:
        return None if kind_of(path) == NOTEBOOK else SourceFile(Path(path), data.decode("utf-8", "replace"))
