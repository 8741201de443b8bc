"""Logging commands of Azure Pipelines, which become issues of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Severity
from modellint.reporters.github import annotation_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.reporters import View
    from modellint.results.report import Report

#: The types of issues that Azure has.
_TYPES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "warning"}


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        span, path = view.on_disk(finding.place).span, view.path(finding.path)
        place = {"sourcepath": path, "linenumber": str(span.line), "columnnumber": str(span.column)}
        yield _issue({"type": _TYPES[finding.severity], **place, "code": finding.code}, annotation_text(finding, path))
    for crash in report.crashes:
        path = view.path(crash.path)
        yield _issue({"type": "error", "sourcepath": path}, f"{path}: {crash.message}")
    for skipped in report.skipped:
        path = view.path(skipped.path)
        yield _issue({"type": "warning", "sourcepath": path}, f"{path}: {skipped.reason}")


def _issue(properties: dict[str, str], text: str) -> str:
    listed = "".join(f"{key}={_escaped(value)};" for key, value in properties.items())
    return f"##vso[task.logissue {listed}]{_escaped(text)}"


def _escaped(text: str) -> str:
    for character, written in (("%", "%AZP25"), (";", "%3B"), ("\r", "%0D"), ("\n", "%0A"), ("]", "%5D")):
        text = text.replace(character, written)
    return text
