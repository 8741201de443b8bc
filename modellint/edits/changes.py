"""Edits of one text: their offsets, their conflicts, and the text after them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from modellint.finding import Edit
    from modellint.source import SourceFile


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """Replace the characters from `start` up to `end` (both from 0) by `text`."""

    start: int
    end: int
    text: str


class EditError(Exception):
    """Edits that cannot be applied; the message says why."""


def edits_by_path(edits: Iterable[Edit]) -> dict[Path, list[Edit]]:
    """Edits by the file that they are about."""
    found: dict[Path, list[Edit]] = {}
    for edit in edits:
        found.setdefault(Path(edit.place.path), []).append(edit)
    return found


def changes_of(source: SourceFile, edits: Iterable[Edit]) -> list[Change]:
    """Edits by offset, in order and each once.

    Raises EditError where one lies outside of the text or two of them overlap.
    """
    starts = list(accumulate((len(line) for line in source.lines), initial=0))
    found = set()
    for edit in edits:
        span = edit.place.span
        if not 1 <= span.line <= span.end_line <= len(starts):
            raise EditError(f"line {span.line} is not there any more")
        start, end = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
        if not 0 <= start <= end <= len(source.text):
            raise EditError(f"line {span.line} is not what it was")
        found.add(Change(start, end, edit.text))
    changes = sorted(found)
    if any(conflict(one, other) for one, other in pairwise(changes)):
        raise EditError("its edits overlap")
    return changes


def conflict(one: Change, other: Change) -> bool:
    """True if applying both is ambiguous or impossible: they share characters, or insert at the same place."""
    if one.start == other.start and one.start in (one.end, other.end):
        return one.end == other.end
    return one.start < other.end and other.start < one.end


def applied(text: str, changes: Sequence[Change]) -> str:
    """A text after changes that are in order and do not overlap."""
    parts = []
    at = 0
    for change in changes:
        parts += [text[at : change.start], change.text]
        at = change.end
    return "".join((*parts, text[at:]))


def moved(offset: int, changes: Sequence[Change]) -> int:
    """The offset after the changes of a character that none of them touches."""
    return offset + sum(len(change.text) - (change.end - change.start) for change in changes if change.end <= offset)
