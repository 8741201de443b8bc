"""One line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.reporters.text import head, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.linter import Report
    from modellint.reporters import View


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        yield head(finding, view)
    yield from summary(report, view)
