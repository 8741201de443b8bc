"""Anchors of claims: the definition around a place, noted with a finding, and found again when it is confirmed."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.claims import Anchor, moved, places_of
from modellint.source import YAML, Place, Span, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project
    from modellint.source import SourceFile


class CodeChangedError(Exception):
    """The code that a claim is about has changed or is gone."""


def add_anchors(claim: Claim, project: Project) -> Claim:
    """The claim with an anchor for each of its places, in the project's files."""
    return replace(claim, anchors=tuple(_anchor(place, project) for place in dict.fromkeys(places_of(claim))))


def current(claim: Claim, project: Project) -> Claim:
    """An anchored claim with its places moved to where their code stands now. Raises CodeChangedError."""
    there = {anchor.place: _now(anchor, project) for anchor in claim.anchors}
    return moved(claim, lambda place: there.get(place, place))


def _anchor(place: Place, project: Project) -> Anchor:
    source, lines = _source(place.path, project), place.span
    definitions = _by_line(place.path, project)
    before = reversed(definitions[: bisect_right(definitions, lines.line, key=lambda one: one.line)])
    inner = next((one for one in before if lines.line <= one.end_line), None)
    head = Place(place.path, Span(1, 1, 1, 1)) if inner is None else inner.place
    return Anchor(place, "" if inner is None else inner.qualname, head, "" if source is None else source.text_of(lines))


def _now(anchor: Anchor, project: Project) -> Place:
    """The current place of an anchor's code: at the same distance from its definition, or the only match in it."""
    place = anchor.place
    source = _source(place.path, project)
    if source is None or not anchor.text:
        return place
    named = [one for one in _definitions(place.path, project) if one.qualname == anchor.name]
    bodies = [(one.line, one.end_line) for one in named] if anchor.name else [(1, len(source.lines))]
    for line, _ in bodies:
        span = _lower(place.span, line - anchor.head.span.line)
        if source.text_of(span) == anchor.text:
            return Place(place.path, span)
    found = [span for line, last in bodies for span in _spans(anchor.text, source, line, last)]
    if len(found) != 1:
        raise CodeChangedError
    return Place(place.path, found[0])


def _spans(text: str, source: SourceFile, line: int, last: int) -> Iterator[Span]:
    """The spans at which a text occurs in the lines `line` to `last` of a file."""
    body, at = source.text_between(line, last), -1
    while (at := body.find(text, at + 1)) >= 0:
        before, within = body[:at].split("\n"), text.split("\n")
        start, column = line + len(before) - 1, len(before[-1]) + 1
        end = len(within[-1]) + (1 if within[1:] else column)
        yield Span(start, column, start + len(within) - 1, end)


def _lower(span: Span, lines: int) -> Span:
    return Span(span.line + lines, span.column, span.end_line + lines, span.end_column)


def _definitions(path: str, project: Project) -> list[Class | Function]:
    module = _module(path, project)
    return [] if module is None else [*module.all_functions(), *module.classes.values()]


def _by_line(path: str, project: Project) -> list[Class | Function]:
    """The definitions of a file by their first lines; a class comes after its methods in the same line."""
    key = "definitions by line", _module(path, project)
    return project.once(key, lambda: sorted(_definitions(path, project), key=lambda one: one.line))


def _module(path: str, project: Project) -> ModuleFacts | None:
    return None if kind_of(path) == YAML else project.python(Path(path))


def _source(path: str, project: Project) -> SourceFile | None:
    """The source of a Python file, recipe or configuration; None if it cannot be read."""
    if kind_of(path) == YAML:
        read = project.recipe(Path(path)) or project.config(Path(path))
        return None if read is None else read.source
    module = _module(path, project)
    return None if module is None else module.source
