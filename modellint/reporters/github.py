"""Workflow commands of GitHub Actions, which become annotations on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Severity, Status
from modellint.reporters.text import spot

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.finding import Finding
    from modellint.reporters import View
    from modellint.results.report import Report

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        yield _annotation(finding, view)
    for crash in report.crashes:
        path = view.path(crash.path)
        yield command("error", {"title": "modellint (internal error)", "file": path}, f"{path}: {crash.message}")
    for skipped in report.skipped:
        path = view.path(skipped.path)
        yield command("warning", {"title": "modellint (skipped)", "file": path}, f"{path}: {skipped.reason}")


def _annotation(finding: Finding, view: View) -> str:
    span, path = view.on_disk(finding.place).span, view.path(finding.path)
    properties = {
        "title": f"modellint ({finding.code})",
        "file": path,
        "line": str(span.line),
        "endLine": str(span.end_line),
    }
    if span.line == span.end_line:  # columns of a range over several lines are refused
        properties |= {"col": str(span.column), "endColumn": str(span.end_column)}
    return command(_COMMANDS[finding.severity], properties, annotation_text(finding, path))


def annotation_text(finding: Finding, path: str) -> str:
    """The text of an annotation for a finding, in a few lines."""
    text = f"{path}:{spot(finding.place)}: {finding.code} {finding.message}"
    if finding.verdict.status is not Status.NOT_RUN:
        text += f"\n{finding.verdict.status.value}: {finding.verdict.detail}"
    if finding.help:
        text += f"\n{finding.help}"
    return text


def command(name: str, properties: Mapping[str, str], text: str) -> str:
    """A workflow command, `::name key=value,…::text`, in one line."""
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
