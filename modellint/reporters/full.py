"""Findings with their source, for people: a frame with carets, related places, evidence and help."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Status
from modellint.reporters.text import COLOURS, head, position, printable, styled, summary, verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.report import Report
    from modellint.reporters import View
    from modellint.source import Place

_CONTEXT = 2
_WIDTH = 160
_TAB = "    "


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        yield from _finding(finding, view)
        yield ""
    yield from summary(report, view)


def _finding(finding: Finding, view: View) -> Iterator[str]:
    yield head(finding, view)
    places = [finding.place, *(related.place for related in finding.related)]
    width = len(str(max(place.span.line for place in places) + _CONTEXT))
    yield from _frame(finding.place, view, width, _CONTEXT, COLOURS[finding.severity])
    for related in finding.related:
        pointer = styled(" " * width + "::", view, "blue")
        yield f"{pointer} {position(related.place, view)} {printable(related.message)}"
        yield from _frame(related.place, view, width, 0, "blue")
    bullet = styled(" " * width + " =", view, "blue")
    for fact in finding.evidence:
        yield f"{bullet} {printable(fact)}"
    if finding.verdict.status is not Status.NOT_RUN:
        yield f"{bullet} {verdict(finding, view)}"
    if finding.help:
        yield f"{bullet} {styled('help', view, 'cyan', bold=True)}: {printable(finding.help)}{_offer(finding)}"


def _offer(finding: Finding) -> str:
    if finding.fix is None:
        return ""
    is_safe = finding.fix.applicability is Applicability.SAFE
    return f" (`--fix{'' if is_safe else ' --unsafe-fixes'}` does it)"


def _frame(place: Place, view: View, width: int, context: int, colour: str) -> Iterator[str]:
    """The lines round a place, numbered, with carets under its first line."""
    source = view.source_lines(place.path, place.cell)
    span = place.span
    if not 1 <= span.line <= len(source):
        return
    bar = styled("|", view, "blue")
    yield f"{' ' * width} {bar}"
    first, last = max(span.line - context, 1), min(span.line + context, len(source))
    start = span.column - 1
    length = len(source[span.line - 1].rstrip("\r\n"))
    end = span.end_column - 1 if span.end_line == span.line else length
    clip = max(0, start - _WIDTH // 2) if length > _WIDTH else 0
    for number in range(first, last + 1):
        text = source[number - 1].rstrip("\r\n")
        shown = styled(f"{number:>{width}}", view, "blue")
        yield f"{shown} {bar} {_visible(text[clip : clip + _WIDTH])}".rstrip()
        if number == span.line:
            indent = _cells(text[clip:start])
            carets = "^" * max(_cells(text[start : min(end, clip + _WIDTH)]), 1)
            yield f"{' ' * width} {bar} {' ' * indent}{styled(carets, view, colour, bold=True)}"
    yield f"{' ' * width} {bar}"


def _visible(text: str) -> str:
    return printable(text.replace("\t", _TAB))


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    text = _visible(text)
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
