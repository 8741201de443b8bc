"""reviewdog's Diagnostic Format as one JSON object. Its columns count UTF-8 bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modellint.finding import Severity
from modellint.reporters.text import explained, in_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.reporters import View
    from modellint.results.failures import Crash
    from modellint.results.report import Report
    from modellint.source import Place

_SEVERITIES = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def lines(report: Report, view: View) -> Iterator[str]:
    diagnostics = [_diagnostic(finding, view) for finding in report.findings]
    diagnostics += [_crash(crash, view) for crash in report.crashes]
    document = {"source": {"name": "modellint"}, "diagnostics": diagnostics}
    yield json.dumps(document, indent=2, ensure_ascii=False)


def _crash(crash: Crash, view: View) -> dict[str, Any]:
    """A diagnostic at the beginning of the file that was not checked to its end."""
    start = {"line": 1, "column": 1}
    return {
        "message": crash.message,
        "severity": "ERROR",
        "code": {"value": "internal-error"},
        "location": {"path": view.path(crash.path), "range": {"start": start, "end": start}},
    }


def _diagnostic(finding: Finding, view: View) -> dict[str, Any]:
    page = view.page(finding.code)
    diagnostic: dict[str, Any] = {
        "message": explained(finding, with_cell=True),
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code, **({} if page is None else {"url": page})},
        "location": _location(finding.place, view),
    }
    if finding.related:
        diagnostic["relatedLocations"] = [
            {"message": other.message + in_cell(other.place), "location": _location(other.place, view)}
            for other in finding.related
        ]
    edits = () if finding.fix is None else finding.fix.edits
    if edits and all(edit.place.path == finding.path for edit in edits):  # a suggestion names no file
        diagnostic["suggestions"] = [
            {"range": _range(edit.place, view), "text": edit.text} for edit in map(view.edit_on_disk, edits)
        ]
    return diagnostic


def _location(place: Place, view: View) -> dict[str, Any]:
    return {"path": view.path(place.path), "range": _range(place, view)}


def _range(place: Place, view: View) -> dict[str, dict[str, int]]:
    span = view.on_disk(place).span
    return {
        "start": {"line": span.line, "column": _byte_column(place.path, span.line, span.column, view)},
        "end": {"line": span.end_line, "column": _byte_column(place.path, span.end_line, span.end_column, view)},
    }


def _byte_column(path: str, line: int, column: int, view: View) -> int:
    source = view.source_lines(path)
    text = source[line - 1][: column - 1] if 0 < line <= len(source) else ""
    return column + len(text.encode("utf-8", "surrogatepass")) - len(text)
