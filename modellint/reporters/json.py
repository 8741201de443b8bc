"""One JSON object for a run, as the contract describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding, Fix, Sandbox
    from modellint.reading.sizes import Oversized
    from modellint.reporters import View
    from modellint.results.failures import Crash
    from modellint.results.report import Report
    from modellint.source import Place


def lines(report: Report, view: View) -> Iterator[str]:
    document: dict[str, Any] = {
        "version": __version__,
        "findings": [finding_json(finding, view) for finding in report.findings],
        "errors": [crash_json(crash, view) for crash in report.crashes],
        "skipped": [skipped_json(skipped, view) for skipped in report.skipped],
        "files_checked": report.files_checked,
        "duration_s": round(report.duration, 3),
    }
    if report.inventory is not None:
        document["inventory"] = report.inventory._asdict()
    if report.guard is not None:
        document |= {"refuted": report.refuted, "guard": guard_json(report.guard)}
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if report.part is not None:  # on a line of its own, as programs read it
        data = json.dumps(report.part.data, ensure_ascii=False)
        text = f'{text[:-2]},\n  "shard": "{report.part.shard}",\n  "shard_data": {data}\n}}'
    yield text


def crash_json(crash: Crash, view: View) -> dict[str, Any]:
    """A failure of our own as JSON-able values."""
    return {"part": crash.part, "path": view.path(crash.path), "error": crash.error}


def skipped_json(skipped: Oversized, view: View) -> dict[str, Any]:
    """A file that was not read as JSON-able values."""
    return {
        "path": view.path(skipped.path),
        "reason": skipped.reason,
        "size": skipped.size,
        "tokens": skipped.tokens,
        "max_file_size": skipped.limit,
    }


def guard_json(guard: Sandbox) -> dict[str, Any]:
    """A guard as JSON-able values."""
    return {"name": guard.name, "parts": list(guard.parts)}


def finding_json(finding: Finding, view: View) -> dict[str, Any]:
    """A finding as JSON-able values: lines and columns from 1, paths relative to the working directory."""
    verdict = finding.verdict
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        **_place(finding.place, view),
        "symbol": finding.symbol,
        "evidence": list(finding.evidence),
        "related": [{**_place(other.place, view), "message": other.message} for other in finding.related],
        "help": finding.help,
        "fix": _fix(finding.fix, view) if finding.fix else None,
        "verdict": {"status": verdict.status.value, "device": verdict.device, "detail": verdict.detail or None},
        "fingerprint": finding.fingerprint,
        "url": view.page(finding.code),
    }


def _place(place: Place, view: View) -> dict[str, Any]:
    return {
        "path": view.path(place.path),
        "cell": place.cell or None,
        "line": place.span.line,
        "column": place.span.column,
        "end_line": place.span.end_line,
        "end_column": place.span.end_column,
    }


def _fix(fix: Fix, view: View) -> dict[str, Any]:
    edits = [
        {
            "path": view.path(edit.place.path),
            "cell": edit.place.cell or None,
            "start": [edit.place.span.line, edit.place.span.column],
            "end": [edit.place.span.end_line, edit.place.span.end_column],
            "text": edit.text,
        }
        for edit in fix.edits
    ]
    return {"message": fix.message, "applicability": fix.applicability.value, "edits": edits}
