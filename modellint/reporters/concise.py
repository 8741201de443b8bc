"""One line for each finding; without findings, a line on what was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Status
from modellint.reporters.text import head, looked_at, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.reporters import View
    from modellint.results.report import Report


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        status = finding.verdict.status
        yield head(finding, view) + (f" [{status.value}]" if status is not Status.NOT_RUN else "")
    if not report.findings:
        yield from looked_at(report, view)
    yield from summary(report, view)
