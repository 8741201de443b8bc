"""Edits of a notebook's module, made in the JSON strings that hold the lines concerned, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from modellint.edits.changes import Change, EditError, applied, changes_of
from modellint.edits.files import edited
from modellint.notebook.layout import Layout
from modellint.notebook.places import change_of
from modellint.notebook.reading import read
from modellint.source import YAML, SourceFile, UnreadableError, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from modellint.finding import Edit
    from modellint.notebook.layout import Value
    from modellint.notebook.reading import Notebook, Part

_BOM = b"\xef\xbb\xbf"


def edited_notebook(path: Path, data: bytes, edits: Iterable[Edit]) -> bytes:
    """The content of a notebook after edits of its module.

    Raises EditError where they do not fit it, where what they change could not be parsed any more, or where anything
    but what they replace would be different.
    """
    try:
        book = read(data)
    except UnreadableError as error:
        raise EditError(error.reason) from None
    wanted = list(dict.fromkeys(edits))
    before = SourceFile(path, book.original)
    _check(path, book, before, wanted)
    by_cell: dict[int, list[Change]] = {}
    for edit in wanted:
        cell, change = change_of(book, edit)
        by_cell.setdefault(cell.number, []).append(change)
    result = rewritten(data, by_cell)
    try:
        after = read(result).original
    except UnreadableError as error:
        raise EditError(error.reason) from None
    if after != applied(before.text, changes_of(before, wanted)):
        raise EditError("it would change more than it speaks of")
    return result


def rewritten(data: bytes, changes: Mapping[int, Sequence[Change]]) -> bytes:
    """The content of a notebook after changes of the sources of cells, by their numbers."""
    layout = Layout(data.decode("utf-8-sig"))
    spans = [span for number, wanted in changes.items() for span in _in_json(layout, number, sorted(set(wanted)))]
    result = applied(layout.text, sorted(spans)).encode()
    return _BOM + result if data.startswith(_BOM) else result


def _check(path: Path, book: Notebook, whole: SourceFile, edits: Sequence[Edit]) -> None:
    """Make the edits in the parts of the notebook as if these were files, which proves that they fit."""
    by_part: dict[Part, list[Edit]] = {}
    for edit in edits:
        by_part.setdefault(book.part_at(path, edit.place.span), []).append(edit)
    for part, mine in by_part.items():
        inner = []
        for edit in mine:
            span = part.inner(edit.place.span)
            if span is None:
                raise EditError(f"line {edit.place.span.line} is not there any more")
            inner.append(replace(edit, place=replace(edit.place, span=span)))
        replaced = [part.text[change.start : change.end] for change in changes_of(part.source, inner)]
        if replaced != [whole.text[change.start : change.end] for change in changes_of(whole, mine)]:
            raise EditError("it would change what is no Python")
        is_yaml = kind_of(part.path.name) == YAML
        edited(part.path if is_yaml else part.path.with_suffix(".py"), part.data, inner)


def _in_json(layout: Layout, number: int, changes: Sequence[Change]) -> list[Change]:
    """Changes of a cell's source as changes of the JSON: those of the strings that they touch."""
    value = layout.source(number)
    if not value.literals:
        lines = _lines(_characters_after(layout, value, 0, 0, changes))
        return [Change(value.start, value.end, f"[{', '.join(lines)}]")]
    if not value.is_list:
        raw = "".join(raw for _, raw in _characters_after(layout, value, 0, len(value.pieces), changes))
        return [Change(value.start, value.end, f'"{raw}"')]
    return [_in_list(layout, value, *run) for run in _touched_runs(value, changes)]


def _touched_runs(value: Value, changes: Sequence[Change]) -> list[tuple[int, int, list[Change]]]:
    """The runs of strings that changes touch: the first and last of each, and its changes."""
    runs: list[tuple[int, int, list[Change]]] = []
    for change in changes:
        first = _literal_at(value, change.start)
        last = _literal_at(value, change.end - 1) if change.end > change.start else first
        if runs and first <= runs[-1][1] + 1:
            before = runs.pop()
            runs.append((before[0], max(before[1], last), [*before[2], change]))
        else:
            runs.append((first, last, [change]))
    return runs


def _literal_at(value: Value, offset: int) -> int:
    """The index of the string with the character at `offset`; behind the last character, the last string."""
    return value.pieces[offset].literal if offset < len(value.pieces) else len(value.literals) - 1


def _in_list(layout: Layout, value: Value, first: int, last: int, changes: Sequence[Change]) -> Change:
    """The change that replaces strings `first` to `last` of a list by one string for each line after the changes."""
    inside = [index for index, piece in enumerate(value.pieces) if first <= piece.literal <= last]
    start, end = (inside[0], inside[-1] + 1) if inside else (changes[0].start, changes[-1].end)
    lines = _lines(_characters_after(layout, value, start, end, changes))
    literals = value.literals
    if lines:
        if len(literals) > 1:
            between = layout.text[literals[0].end : literals[1].start]
        else:
            between = "," + layout.text[value.start + 1 : literals[0].start]
        return Change(literals[first].start, literals[last].end, between.join(lines))
    if last + 1 < len(literals):
        return Change(literals[first].start, literals[last + 1].start, "")
    if first > 0:
        return Change(literals[first - 1].end, literals[last].end, "")
    return Change(value.start, value.end, "[]")


def _characters_after(
    layout: Layout, value: Value, start: int, end: int, changes: Sequence[Change]
) -> list[tuple[str, str]]:
    """The characters of a source from `start` to `end` after changes, each with its spelling in JSON."""
    result: list[tuple[str, str]] = []
    at = start
    for change in changes:
        result += ((piece.char, piece.raw) for piece in value.pieces[at : change.start])
        result += ((char, layout.quoted(char)) for char in change.text)
        at = change.end
    result += ((piece.char, piece.raw) for piece in value.pieces[at:end])
    return result


def _lines(written: Sequence[tuple[str, str]]) -> list[str]:
    """A JSON string for each line."""
    lines: list[str] = []
    is_open = False
    for char, raw in written:
        if not is_open:
            lines.append("")
        lines[-1] += raw
        is_open = char != "\n"
    return [f'"{line}"' for line in lines]
