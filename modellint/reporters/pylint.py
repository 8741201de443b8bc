"""One line for each finding, as `pylint --output-format=parseable` writes it, for tools that read that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.reporters.text import in_cell, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.reporters import View
    from modellint.results.report import Report


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        about = f"{finding.code}({finding.name}), {printable(finding.symbol)}"
        line = view.on_disk(finding.place).span.line
        path = printable(view.path(finding.path))
        yield f"{path}:{line}: [{about}] {printable(finding.message)}{in_cell(finding.place)}"
    for crash in report.crashes:
        path = printable(view.path(crash.path))
        yield f"{path}:1: [internal-error(internal-error), {printable(crash.part)}] {printable(crash.error)}"
