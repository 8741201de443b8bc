"""What a planted mistake is, and the list of all that can be planted."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from planting.source import Edit, Source, applied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Where a finding is expected: a node of the original, or the line of a piece of text that an edit writes.
Place = ast.expr | ast.stmt | tuple[Edit, str]


@dataclass(frozen=True)
class Mutant:
    """One mistake in one file.

    `edits` lead from the original to the mutant, `places` are where the finding is due. `scaffold` leads from the
    original to the correct file that the mutant is compared with: where nothing is drawn from a head, say, a correct
    method that does so comes first.
    """

    edits: tuple[Edit, ...]
    places: tuple[Place, ...]
    scaffold: tuple[Edit, ...] = ()

    def before(self, source: Source) -> bytes:
        return applied(source.data, self.scaffold)

    def after(self, source: Source) -> bytes:
        return applied(source.data, self.edits)

    def lines(self, source: Source) -> list[tuple[int, int]]:
        """The first and last lines of the places, in the mutated text."""
        return [self._lines(source, place) for place in self.places]

    def _lines(self, source: Source, place: Place) -> tuple[int, int]:
        text, edits = self.after(source), self.edits
        if isinstance(place, tuple):
            edit, piece = place
            start = _moved(edit.start, edits, before=edit) + edit.text.encode().index(piece.encode())
            end = start + len(piece.encode())
        else:
            start, end = _moved(source.start(place), edits), _moved(source.end(place), edits, ends=True)
        return text.count(b"\n", 0, start) + 1, text.count(b"\n", 0, max(start, end - 1)) + 1


def _moved(offset: int, edits: tuple[Edit, ...], *, before: Edit | None = None, ends: bool = False) -> int:
    """Where an offset of the original is after the edits; as an end, behind what is written there."""
    moved = offset
    for edit in edits:
        if edit is before:
            continue
        behind = edit.end < offset or (edit.end == offset and (ends or edit.start < offset or edit.start == edit.end))
        if behind or (edit.start < offset < edit.end):
            moved += len(edit.text.encode()) - (min(edit.end, offset) - edit.start)
    return moved


@dataclass(frozen=True)
class Operator:
    """One kind of mistake: the rule that should find it, and how it is planted.

    `also` are the codes that may speak instead, by RULES.md, principle 6. `words` must all occur in a file.
    """

    name: str
    code: str
    also: tuple[str, ...]
    words: tuple[bytes, ...]
    plant: Callable[[Source], Iterator[Mutant]] = field(compare=False)

    @property
    def codes(self) -> tuple[str, ...]:
        return (self.code, *self.also)

    def sites(self, source: Source) -> list[Mutant]:
        """Every mutant of this kind in a file, in the order of the text."""
        if not all(word in source.data for word in self.words):
            return []
        return sorted(self.plant(source), key=lambda mutant: [edit.start for edit in mutant.edits])


OPERATORS: dict[str, Operator] = {}


def operator(
    code: str, *words: bytes, also: tuple[str, ...] = ()
) -> Callable[[Callable[[Source], Iterator[Mutant]]], Callable[[Source], Iterator[Mutant]]]:
    """Add a function that plants a mistake to the catalogue, under its own name."""

    def add(plant: Callable[[Source], Iterator[Mutant]]) -> Callable[[Source], Iterator[Mutant]]:
        name = plant.__name__.replace("_", "-")
        assert name not in OPERATORS
        OPERATORS[name] = Operator(name, code, also, words, plant)
        return plant

    return add


def load() -> dict[str, Operator]:
    """The whole catalogue, by name."""
    from planting import ids, positions, registration, tables

    for module in (ids, positions, registration, tables):
        assert module.__doc__
    return dict(sorted(OPERATORS.items()))
