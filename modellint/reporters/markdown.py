"""Markdown, as GitHub shows it in a job summary or a comment: the numbers, then a table, then each finding."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from modellint.finding import Severity, Status
from modellint.reporters.text import printable, spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.reporters import View
    from modellint.results.report import Report

#: The most findings that are listed: GitHub refuses comments of more than 65,536 characters.
_MOST = 50
_SIGNS = {Severity.ERROR: ":x:", Severity.WARNING: ":warning:", Severity.INFO: ":information_source:"}
#: Characters that Markdown or HTML would take for markup outside of code.
_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\<>[]*_|#"})


def lines(report: Report, view: View) -> Iterator[str]:
    yield "### modellint"
    yield ""
    yield _summary(report)
    if report.findings:
        yield ""
        yield "| | rule | place | finding |"
        yield "|---|---|---|---|"
    for finding in report.findings[:_MOST]:
        yield _row(finding, view)
    left = len(report.findings) - _MOST
    if left > 0:
        yield ""
        yield f"{left} more findings are in the log of the job."
    for crash in report.crashes:
        yield ""
        yield f":x: `{_code(view.path(crash.path))}`: {_text(crash.message)}"
    for skipped in report.skipped:
        yield ""
        yield f":warning: `{_code(view.path(skipped.path))}` was skipped: {_text(skipped.reason)}"


def _summary(report: Report) -> str:
    counts = Counter(finding.severity for finding in report.findings)
    files = f"{report.files_checked} file{'' if report.files_checked == 1 else 's'} checked"
    parts = [f"{counts[one]} {_plural(one, counts[one])}" for one in _SIGNS if counts[one]]
    known = report.known.hidden if report.known is not None else 0
    old = f", {known} known before" if known else ""
    return f"{', '.join(parts) or ':white_check_mark: No findings'} ({files}{old})"


def _plural(severity: Severity, number: int) -> str:
    return severity.value if number == 1 or severity is Severity.INFO else f"{severity.value}s"


def _row(finding: Finding, view: View) -> str:
    page = view.page(finding.code)
    code = f"[{finding.code}]({page})" if page is not None else finding.code
    place = f"`{_code(view.path(finding.path))}:{spot(finding.place)}`"
    text = _text(finding.message)
    if finding.verdict.status is not Status.NOT_RUN:
        text += f"<br>**{finding.verdict.status.value}**: {_text(finding.verdict.detail or '')}"
    if finding.help:
        text += f"<br>{_text(finding.help)}"
    return f"| {_SIGNS[finding.severity]} | {code} | {place} | {text} |"


def _text(text: str) -> str:
    """A message, whose backquotes stay, in a cell of a table."""
    parts = " ".join(printable(text).split()).split("`")
    shown = [part.translate(_ESCAPED) if number % 2 == 0 else _code(part) for number, part in enumerate(parts)]
    return "`".join(shown) if len(parts) % 2 else "".join(shown)


def _code(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("`", "'")
