"""GitLab's Code Quality report: issues as the Code Climate specification has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modellint.finding import Severity
from modellint.reading.files import content_hash
from modellint.reporters.text import explained, in_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.reporters import View
    from modellint.results.failures import Crash
    from modellint.results.report import Report

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}


def lines(report: Report, view: View) -> Iterator[str]:
    issues = [_issue(finding, view) for finding in report.findings]
    issues += [_crash(crash, view) for crash in report.crashes]
    yield json.dumps(issues, indent=2, ensure_ascii=False)


def _crash(crash: Crash, view: View) -> dict[str, Any]:
    """An issue at the beginning of the file that was not checked to its end."""
    path = view.path(crash.path)
    start = {"line": 1, "column": 1}
    return {
        "type": "issue",
        "check_name": "internal-error",
        "description": crash.message,
        "content": {"body": crash.message},
        "categories": ["Bug Risk"],
        "severity": "critical",
        "fingerprint": content_hash("\0".join((crash.part, path)).encode("utf-8", "surrogatepass")),
        "location": {"path": path, "positions": {"begin": start, "end": start}},
    }


def _issue(finding: Finding, view: View) -> dict[str, Any]:
    span = view.on_disk(finding.place).span
    return {
        "type": "issue",
        "check_name": finding.code,
        "description": f"{finding.code}: {finding.message}{in_cell(finding.place)}",
        "content": {"body": explained(finding)},
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[finding.severity],
        "fingerprint": finding.fingerprint,
        "location": {
            "path": view.path(finding.path),
            "positions": {
                "begin": {"line": span.line, "column": span.column},
                "end": {"line": span.end_line, "column": span.end_column},
            },
        },
    }
