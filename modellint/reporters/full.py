"""Findings with their source, for people: a frame with carets, related places, evidence and help."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Status
from modellint.reporters.text import (
    COLOURS,
    looked_at,
    plain,
    position,
    printable,
    spot,
    styled,
    summary,
    verdict,
    wrapped,
    wrapped_head,
)
from modellint.results.causes import without_same

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.finding import Finding
    from modellint.reporters import View
    from modellint.results.report import Report
    from modellint.source import Place

_CONTEXT = 2
_WIDTH, _LEAST = 160, 40
#: How many copies of a finding are named.
_COPIES = 8
_TAB = "    "


def lines(report: Report, view: View) -> Iterator[str]:
    for finding, *copies in _group_copies(report.findings, view):
        yield from _finding(finding, copies, view)
        yield ""
    yield from looked_at(report, view)
    yield from summary(report, view)


def _group_copies(findings: Iterable[Finding], view: View) -> Iterable[list[Finding]]:
    """Group findings that are the same in copies of a file or function: equal texts about equal lines."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        source, line = view.source_lines(finding.path, finding.place.cell), finding.span.line
        text = source[line - 1].strip() if 1 <= line <= len(source) else ""
        said = finding.code, finding.severity, finding.symbol, finding.message, finding.evidence, finding.help, text
        groups.setdefault((*said, finding.verdict, finding.fix is None, len(finding.related)), []).append(finding)
    return groups.values()


def _finding(finding: Finding, copies: Sequence[Finding], view: View) -> Iterator[str]:
    yield from wrapped_head(finding, view)
    others, same = without_same(finding)
    places = [finding.place, *(related.place for related in others)]
    width = len(str(max(place.span.line for place in places) + _CONTEXT))
    yield from _frame(finding.place, view, width, _CONTEXT, COLOURS[finding.severity])
    for related in others:
        pointer = styled(" " * width + "::", view, "blue")
        length = width + 4 + len(f"{view.path(related.place.path)}:{spot(view.place(related.place))}")
        start = f"{pointer} {position(related.place, view)} "
        yield from wrapped(start, length, printable(related.message), view, indent=width + 3)
        yield from _frame(related.place, view, width, 0, "blue")
    bullet = styled(" " * width + " =", view, "blue")
    indent = width + 3
    for fact in finding.evidence:
        yield from wrapped(f"{bullet} ", indent, printable(fact), view, indent=indent)
    if finding.verdict.status is not Status.NOT_RUN:
        status, said = verdict(finding, view)
        yield from wrapped(f"{bullet} {status} ", indent + len(plain(status)) + 1, said, view, indent=indent)
    if finding.help:
        start = f"{bullet} {styled('help', view, 'cyan', bold=True)}: "
        text = printable(finding.help) + _offer(finding)
        yield from wrapped(start, indent + len("help: "), text, view, indent=indent)
    for places, lister in ((same, "json"), ([copy.place for copy in copies], "concise")):
        if places:
            yield from wrapped(f"{bullet} ", indent, _copies(places, lister, view), view, indent=indent)


def _copies(places: Sequence[Place], lister: str, view: View) -> str:
    """`the same at b.py:3:1 and c.py:3:1`; all of many are in the output format `lister`."""
    shown = [f"{printable(view.path(place.path))}:{spot(view.place(place))}" for place in places[:_COPIES]]
    more = len(places) - len(shown)
    if more:
        count = "one other place" if more == 1 else f"{more} other places"
        return f"the same at {', '.join(shown)} and {count} (`--output-format {lister}` lists them)"
    return f"the same at {' and '.join(filter(None, (', '.join(shown[:-1]), shown[-1])))}"


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
    room = _WIDTH if view.width is None else min(_WIDTH, max(view.width - width - 3, _LEAST))
    end = span.end_column - 1 if span.end_line == span.line else length
    clip = max(0, start - room // 2) if length > room and end > room else 0
    for number in range(first, last + 1):
        text = source[number - 1].rstrip("\r\n")
        shown = styled(f"{number:>{width}}", view, "blue")
        yield f"{shown} {bar} {_visible(text[clip : clip + room])}".rstrip()
        if number == span.line:
            indent = _cells(text[clip:start])
            carets = "^" * max(_cells(text[start : min(end, clip + room)]), 1)
            yield f"{' ' * width} {bar} {' ' * indent}{styled(carets, view, colour, bold=True)}"
    yield f"{' ' * width} {bar}"


def _visible(text: str) -> str:
    return printable(text.replace("\t", _TAB))


def _cells(text: str) -> int:
    """The number of a terminal's columns that a text takes."""
    text = _visible(text)
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
