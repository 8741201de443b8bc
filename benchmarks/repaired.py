"""What a finding asks to be run, asked of the code after fixes: the places that it speaks of have moved with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.claims import moved
from modellint.edits.changes import applied, changes_of, edits_by_path
from modellint.source import Place, Span, decode_python, decode_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modellint.edits.changes import Change
    from modellint.finding import Fix
    from modellint.probes import Probe
    from modellint.source import SourceFile


class Repaired:
    """Fixes of files that are still as they were when the fixes were made."""

    def __init__(self, fixes: Iterable[Fix]) -> None:
        edits = edits_by_path(edit for fix in fixes for edit in fix.edits)
        self._sources = {path: _source(path) for path in edits}
        self._changes: Mapping[Path, Sequence[Change]] = {
            path: changes_of(self._sources[path], found) for path, found in edits.items()
        }

    def probe(self, probe: Probe) -> Probe:
        """The same probe, of the places as the fixes leave them: with all that is put in their stead."""
        return replace(probe, claim=moved(probe.claim, self._place))

    def _place(self, place: Place) -> Place:
        path, span = Path(place.path), place.span
        if path not in self._sources:
            return place
        lines, changes = self._sources[path].lines, self._changes[path]
        ends = (span.line, span.column), (span.end_line, span.end_column)
        start, end = (sum(map(len, lines[: row - 1])) + at - 1 for row, at in ends)
        text = applied("".join(lines), changes)
        return Place(place.path, Span(*_position(text, _start(start, changes)), *_position(text, _end(end, changes))))


def _source(path: Path) -> SourceFile:
    return (decode_python if path.suffix == ".py" else decode_yaml)(path, path.read_bytes())


def _start(offset: int, changes: Sequence[Change]) -> int:
    """Where what began here begins: before what a fix puts in front of it or in its stead."""
    grown = 0
    for change in changes:
        if change.end <= offset and change.start < offset:
            grown += len(change.text) - (change.end - change.start)
        elif change.start <= offset:
            return change.start + grown
    return offset + grown


def _end(offset: int, changes: Sequence[Change]) -> int:
    """Where what ended here ends: behind what a fix puts after it or in its stead."""
    grown = 0
    for change in changes:
        if change.start <= offset and (change.end <= offset or change.start < offset):
            grown += len(change.text) - (change.end - change.start)
            if change.end > offset:
                return change.end + grown
    return offset + grown


def _position(text: str, offset: int) -> tuple[int, int]:
    """The line and the column, both from 1, of a character."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
