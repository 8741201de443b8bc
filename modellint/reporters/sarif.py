"""SARIF 2.1.0, the exchange format that code scanning services read (OASIS, 2020-03-27).

GitHub refuses runs of over 25,000 results and reads 1,000 related places of each; what goes beyond is left out, and
a notification says so. Columns count Unicode code points, as everywhere in modellint.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from modellint.finding import Confidence, Severity, Status
from modellint.home import SITE
from modellint.reporters.text import explained, in_cell
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from modellint.finding import Finding, Fix
    from modellint.reporters import View
    from modellint.results.report import Report
    from modellint.source import Place, Span

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#: Limits of GitHub: the results of a run, and the related places of a result.
MAX_RESULTS = 25_000
MAX_RELATED = 1_000

_ROOT = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_PRECISIONS = {Confidence.HIGH: "very-high", Confidence.MEDIUM: "high", Confidence.LOW: "low"}


def lines(report: Report, view: View) -> Iterator[str]:
    # If not all results fit, the most severe come first.
    shown = report.findings
    if len(shown) > MAX_RESULTS:
        shown = tuple(sorted(shown, key=lambda finding: -list(Severity).index(finding.severity))[:MAX_RESULTS])
    codes = {code: index for index, code in enumerate(sorted({finding.code for finding in shown}))}
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "modellint",
                "version": __version__,
                "informationUri": SITE,
                "rules": [_rule(code, shown, view) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": base_ids(view.base),
        "invocations": [_invocation(report, len(report.findings) - len(shown), view)],
        "results": [_result(finding, codes, view) for finding in shown],
    }
    if report.part is not None:
        run["properties"] = {"shard": report.part.shard, "shardData": report.part.data}
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _rule(code: str, findings: Sequence[Finding], view: View) -> dict[str, Any]:
    """A reporting descriptor; for a rule unknown to this process, by its findings."""
    rule = view.rules.get(code)
    first = next(finding for finding in findings if finding.code == code)
    if rule is None:
        return {"id": code, "name": first.name}
    docs, page = type(rule).docs(), view.page(code)
    return {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": docs.summary},
        "fullDescription": {"text": docs.summary},
        "help": {"text": docs.body, "markdown": docs.body},
        **({} if page is None else {"helpUri": page}),
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": ["pytorch", "correctness"],
            "precision": _PRECISIONS[first.confidence],
            "problem.severity": _PROBLEMS[rule.severity],
        },
    }


def _invocation(report: Report, left_out: int, view: View) -> dict[str, Any]:
    notes = [_notification("error", crash.message, crash.path, view) for crash in report.crashes]
    notes += [_notification("warning", f"skipped: {file.reason}", file.path, view) for file in report.skipped]
    if left_out:
        notes.append(left_out_note(left_out))
    return {"executionSuccessful": not report.crashes, "toolExecutionNotifications": notes}


def base_ids(base: Path) -> dict[str, Any]:
    """The folder that paths in a report are relative to."""
    return {_ROOT: {"uri": f"{base.as_uri().rstrip('/')}/"}}


def within_limit(results: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """As many results as a service reads, the most severe first if there are more, and the number left out."""
    if len(results) <= MAX_RESULTS:
        return results, 0
    ranks = {level: rank for rank, level in enumerate(_LEVELS.values())}
    ordered = sorted(results, key=lambda result: ranks.get(str(result.get("level")), len(ranks)))
    return ordered[:MAX_RESULTS], len(results) - MAX_RESULTS


def left_out_note(number: int) -> dict[str, Any]:
    """The notification that a report holds fewer findings than there are."""
    return {"level": "warning", "message": {"text": f"{number} more findings are left out of this file"}}


def _notification(level: str, text: str, path: str, view: View) -> dict[str, Any]:
    return {
        "level": level,
        "message": {"text": f"{view.path(path)}: {text}"},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(path, view)}}],
    }


def _result(finding: Finding, codes: Mapping[str, int], view: View) -> dict[str, Any]:
    verdict = finding.verdict
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": explained(finding, with_cell=True)},
        "locations": [_location(finding.place, view)],
        "partialFingerprints": {"modellint/v1": finding.fingerprint},
        "properties": {
            "symbol": finding.symbol,
            "confidence": finding.confidence.value,
            "evidence": list(finding.evidence),
            "verdict": {"status": verdict.status.value, "device": verdict.device, "detail": verdict.detail or None},
        },
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": other.message + in_cell(other.place)}, **_location(other.place, view)}
            for number, other in enumerate(finding.related[:MAX_RELATED], 1)
        ]
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.fix, view)]
    if verdict.status is Status.REFUTED:
        result["kind"], result["level"] = "pass", "none"
    return result


def _location(place: Place, view: View) -> dict[str, Any]:
    region = _region(view.on_disk(place).span)
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(place.path, view), "region": region}}
    if place.cell:
        name = f"cell {place.cell}"
        location["logicalLocations"] = [{"name": name, "fullyQualifiedName": f"{view.path(place.path)}:{name}"}]
    return location


def _artifact(path: str, view: View) -> dict[str, str]:
    """A file, relative to the base folder; a file elsewhere by its absolute path."""
    shown = view.path(path)
    if shown.startswith("../") or Path(shown).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(os.fsencode(shown)), "uriBaseId": _ROOT}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(fix: Fix, view: View) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in map(view.edit_on_disk, fix.edits):
        replacement = {"deletedRegion": _region(edit.place.span), "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.place.path, []).append(replacement)
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {"artifactLocation": _artifact(path, view), "replacements": replacements}
            for path, replacements in changes.items()
        ],
        "properties": {"applicability": fix.applicability.value},
    }
