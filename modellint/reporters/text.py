"""Parts of the formats for people: the head line of a finding, the last line of a run, and colours."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Severity, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.reporters import View
    from modellint.results.report import Report
    from modellint.source import Place

#: How narrow wrapped text becomes at most.
_NARROWEST = 30
_CONTROL = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if code != 9}
_STYLE = re.compile(r"\x1b\[[\d;]*m")
_VERDICTS = {Status.CONFIRMED: "red", Status.REFUTED: "green", Status.UNCONFIRMED: "yellow", Status.NOT_RUN: None}
COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}


def printable(text: str) -> str:
    """Text that cannot steer a terminal."""
    return text.translate(_CONTROL)


def styled(text: str, view: View, colour: str | None = None, *, bold: bool = False) -> str:
    if not view.colour:
        return text
    import click

    return click.style(text, fg=colour, bold=bold or None)


def position(place: Place, view: View) -> str:
    """`path:line:column`, as editors and terminals understand it; in a notebook `path:cell 3:line:column`."""
    path = styled(printable(view.path(place.path)), view, bold=True)
    return f"{path}:{spot(view.place(place))}"


def spot(place: Place) -> str:
    """A place without its file: `line:column`, or `cell 3:line:column`."""
    return (f"cell {place.cell}:" if place.cell else "") + f"{place.span.line}:{place.span.column}"


def in_cell(place: Place) -> str:
    """The cell and line in it, to append to a message that is shown by lines of a file; "" outside of notebooks."""
    return f" (cell {place.cell}, line {place.span.line})" if place.cell else ""


def head(finding: Finding, view: View) -> str:
    return f"{_start(finding, view)} {printable(finding.message)}"


def wrapped_head(finding: Finding, view: View) -> Iterator[str]:
    """The head line, its message wrapped to the terminal."""
    name = f"{view.path(finding.path)}:{spot(view.place(finding.place))}: {finding.code}[{finding.severity}] "
    yield from wrapped(f"{_start(finding, view)} ", len(name), printable(finding.message), view, indent=4)


def wrapped(start: str, length: int, text: str, view: View, *, indent: int) -> Iterator[str]:
    """A text behind a `start` of a visible `length`, wrapped to the terminal; further lines are indented."""
    if view.width is None or length + len(text) <= view.width:
        yield start + text
        return
    import textwrap

    width = max(view.width, indent + _NARROWEST)
    is_crowded = length + len(text.partition(" ")[0]) > width
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=" " * (indent if is_crowded else length),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield start.rstrip() if is_crowded else start + lines[0][length:]
    yield from lines if is_crowded else lines[1:]


def _start(finding: Finding, view: View) -> str:
    code = styled(finding.code, view, COLOURS[finding.severity], bold=True)
    page = view.page(finding.code) if view.links else None
    if page is not None:
        code = f"\x1b]8;;{page}\x1b\\{code}\x1b]8;;\x1b\\"
    return f"{position(finding.place, view)}: {code}[{finding.severity}]"


def verdict(finding: Finding, view: View) -> tuple[str, str]:
    """`confirmed (fake):`, and why."""
    found = finding.verdict
    status = styled(found.status.value, view, _VERDICTS[found.status], bold=True)
    device = f" ({found.device})" if found.device else ""
    return f"{status}{device}:", printable(found.detail or "")


def plain(text: str) -> str:
    """Text without its colours."""
    return _STYLE.sub("", text)


def explained(finding: Finding, *, with_cell: bool = False) -> str:
    """The message with the reasons for it, the verdict, and what to do, a line each, without colours."""
    lines = [
        finding.message + (in_cell(finding.place) if with_cell else ""),
        *(f"- {fact}" for fact in finding.evidence),
    ]
    if finding.verdict.status is not Status.NOT_RUN:
        device = f" ({finding.verdict.device})" if finding.verdict.device else ""
        lines.append(f"{finding.verdict.status.value}{device}: {finding.verdict.detail}")
    if finding.help:
        lines.append(f"help: {finding.help}")
    return "\n".join(lines)


def summary(report: Report, view: View) -> Iterator[str]:
    """The last lines of a run: the number of findings (`Found 3 findings (2 errors, 1 warning)`), and of fixes."""
    if view.quiet:
        return
    if report.fixed:
        total = _count_text(len(report.findings) + len(report.fixed), "finding")
        yield f"Found {total} ({len(report.fixed)} fixed, {len(report.findings)} remaining)"
    elif report.findings:
        counts = Counter(finding.severity for finding in report.findings)
        parts = ", ".join(_count_text(counts[severity], severity.value) for severity in COLOURS if counts[severity])
        yield f"Found {_count_text(len(report.findings), 'finding')} ({parts})"
    elif not report.crashes:
        yield styled("All checks passed!", view, "green", bold=True)
    yield from _fixable(report)
    if report.refuted:
        yield f"{_count_text(report.refuted, 'finding')} refuted by running the code, shown with `--show-refuted`"
    if report.known is not None and report.known.hidden:
        yield f"{_count_text(report.known.hidden, 'finding')} hidden by the baseline"


def _fixable(report: Report) -> Iterator[str]:
    counts = Counter(finding.fix.applicability for finding in report.findings if finding.fix is not None)
    safe, unsafe = counts[Applicability.SAFE], counts[Applicability.UNSAFE]
    if safe:
        yield f"{safe} fixable with `--fix`" + (f" ({unsafe} more with `--unsafe-fixes`)" if unsafe else "")
    elif unsafe:
        yield f"{unsafe} fixable with `--fix --unsafe-fixes`"


def looked_at(report: Report, view: View) -> Iterator[str]:
    """A line on what was checked, so that a run over nothing is not taken for one without findings."""
    if view.quiet or report.inventory is None or report.unchanged_since:
        return
    told = str(report.inventory) or "no layer class, no recipe and no configuration"
    if not (str(report.inventory) or report.findings):
        told += " (is your model in another folder?)"
    packages = view.packages()
    text = f"{_count_text(report.files_checked, 'file')} checked: {told}" + (f"; {packages}" if packages else "")
    yield from wrapped("", 0, text, view, indent=2)


def _count_text(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 or noun == "info" else f"{number} {noun}s"
