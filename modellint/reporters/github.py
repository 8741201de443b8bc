"""Workflow commands of GitHub Actions, which become annotations on a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Severity, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.linter import Report
    from modellint.reporters import View

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def lines(report: Report, view: View) -> Iterator[str]:
    for finding in report.findings:
        yield _command(finding, view)


def _command(finding: Finding, view: View) -> str:
    span, path = finding.span, view.path(finding.path)
    properties = {"title": f"modellint ({finding.code})", "file": path, "line": span.line, "endLine": span.end_line}
    if span.line == span.end_line:  # columns of a range over several lines are refused
        properties |= {"col": span.column, "endColumn": span.end_column}
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    text = f"{path}:{span.line}:{span.column}: {finding.code} {finding.message}"
    if finding.verdict.status is not Status.NOT_RUN:
        text += f"\n{finding.verdict.status.value}: {finding.verdict.detail}"
    if finding.help:
        text += f"\n{finding.help}"
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
