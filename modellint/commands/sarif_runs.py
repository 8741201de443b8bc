"""SARIF reports of several runs as one run: rules and results once each, and all notifications."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config.errors import UsageError
from modellint.finding import Severity
from modellint.reporters import sarif
from modellint.results.merging import refusing

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEVELS = {"error": Severity.ERROR, "warning": Severity.WARNING, "note": Severity.INFO}


def merge_sarif(documents: Mapping[Path, dict[str, Any]]) -> dict[str, Any]:
    """One document with one run. Raises UsageError for a report that modellint did not write."""
    runs = {file: _run(document, file) for file, document in documents.items()}
    first = next(iter(runs.values()))
    rules: dict[str, dict[str, Any]] = {}
    results: dict[str, dict[str, Any]] = {}
    notes: dict[str, dict[str, Any]] = {}
    is_successful, bases = True, []
    for file, run in runs.items():
        with refusing(file, "its run", "expected what `--output-format sarif` writes"):
            for rule in run["tool"]["driver"]["rules"]:
                rules.setdefault(str(rule["id"]), rule)
            for result in run["results"]:
                plain = {key: value for key, value in result.items() if key != "ruleIndex"}
                if plain["ruleId"] not in rules:
                    raise KeyError(plain["ruleId"])
                results.setdefault(json.dumps(plain, sort_keys=True), plain)
            for invocation in run["invocations"]:
                is_successful &= bool(invocation["executionSuccessful"])
                notes |= {json.dumps(note, sort_keys=True): note for note in invocation["toolExecutionNotifications"]}
            bases.append(run.get("originalUriBaseIds"))
    listed, left_out = sarif.within_limit(list(results.values()))
    numbers = {code: number for number, code in enumerate(sorted(rules))}
    if left_out:
        note = sarif.left_out_note(left_out)
        notes[json.dumps(note)] = note
    run = {
        **first,
        "tool": {**first["tool"], "driver": {**first["tool"]["driver"], "rules": [rules[code] for code in numbers]}},
        "invocations": [{"executionSuccessful": is_successful, "toolExecutionNotifications": list(notes.values())}],
        "results": [{"ruleId": one["ruleId"], "ruleIndex": numbers[one["ruleId"]], **one} for one in listed],
    }
    if any(base != bases[0] for base in bases):
        run["originalUriBaseIds"] = sarif.base_ids(Path.cwd())
    return {**next(iter(documents.values())), "runs": [run]}


def most_severe(document: dict[str, Any]) -> Severity | None:
    """The highest severity of the results of a document; None without any."""
    found = (_LEVELS.get(result.get("level", "warning")) for run in document["runs"] for result in run["results"])
    return max((severity for severity in found if severity is not None), default=None)


def _run(document: dict[str, Any], file: Path) -> dict[str, Any]:
    """The one run of a report. Raises UsageError."""
    runs = document["runs"]
    if document.get("version") != "2.1.0":
        raise UsageError(f"{file}: SARIF of version {document.get('version')!r}; expected 2.1.0")
    if len(runs) != 1:
        raise UsageError(f"{file}: {len(runs)} runs; expected one, as `--output-format sarif` writes")
    try:
        name = runs[0]["tool"]["driver"]["name"]
    except (KeyError, TypeError):
        name = None
    if name != "modellint":
        raise UsageError(f"{file}: the report of {name or 'no tool'}; expected one of modellint")
    run: dict[str, Any] = runs[0]
    return run
