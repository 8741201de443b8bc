"""One line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Status
from modellint.reporters.text import head, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.report import Report
    from modellint.reporters import View


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        status = finding.verdict.status
        yield head(finding, view) + (f" [{status.value}]" if status is not Status.NOT_RUN else "")
    yield from summary(report, view)
