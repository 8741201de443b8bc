"""The command `modellint merge`, after its command line is parsed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.commands.parts import Parts, part_in
from modellint.commands.sarif_runs import merge_sarif, most_severe
from modellint.commands.telling import tell_about_baseline, tell_what_is_missing
from modellint.commands.writing import write
from modellint.config import settings_for
from modellint.config.errors import UsageError
from modellint.finding import Severity
from modellint.packs import select_rules
from modellint.results.baseline import Baseline
from modellint.results.merging import merge_reports, number_in, read_document
from modellint.results.outputs import deliver, parse_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modellint.packs import RuleSet
    from modellint.results.outputs import Output
    from modellint.results.report import Part, Report


def merge(reports: Sequence[Path], flags: dict[str, Any]) -> int:
    """Run `modellint merge` with its flags; gives the exit code. Raises UsageError."""
    rules = select_rules(settings_for([Path(".")], flags["config"]))
    outputs = parse_outputs(flags["output_formats"], None, "full")
    documents = {file: read_document(file) for file in reports}
    parts = {file: part_in(document, file) for file, document in documents.items()}
    given = {file: part for file, part in parts.items() if part is not None}
    if given and len(given) < len(parts):
        whole = next(file for file, part in parts.items() if part is None)
        file, part = next(iter(given.items()))
        raise UsageError(f"{whole}: the report of a whole run, where {file} is part {part.shard}; expected parts only")
    if given:
        if len(given) < len(reports):
            twice = next(file for index, file in enumerate(reports) if file in reports[:index])
            raise UsageError(f"{twice}: given twice; expected each part once")
        return _merge_parts(given, documents, rules, outputs, flags)
    if flags["baseline"] is not None or flags["write_baseline"]:
        raise UsageError(
            f"--baseline: {reports[0]} is no part of a run, and does not list each finding; "
            "expected reports of `--shard K/N`, where `--shard 1/1` is the whole run"
        )
    sarif = [file for file, document in documents.items() if "runs" in document]
    if len(sarif) == len(documents):
        return _merge_sarif(documents, outputs, flags)
    if sarif:
        other = next(file for file in documents if file not in sarif)
        raise UsageError(f"{sarif[0]}: SARIF, where {other} is JSON; expected one of the two formats")
    report = merge_reports(documents)
    _write(report, outputs, rules, flags)
    return _exit_code(report, flags["fail_on"] or "warning")


def _merge_parts(
    given: Mapping[Path, Part],
    documents: Mapping[Path, dict[str, Any]],
    rules: RuleSet,
    outputs: Sequence[Output],
    flags: dict[str, Any],
) -> int:
    """Write the report of the run that the parts are of, or its baseline."""
    parts = Parts(given, rules.rules)
    file = flags["baseline"] or parts.settings.baseline
    if flags["write_baseline"]:
        if file is None:
            raise UsageError("--write-baseline: no file to write to; expected `--baseline FILE`, or that of the parts")
        from modellint.commands.checking import update_baseline

        report = parts.report(None)
        update_baseline(file, "--baseline", report, parts.rules)
        tell_what_is_missing(report, quiet=False)
        return 2 if report.crashes else 0
    report = parts.report(None if file is None else Baseline.read(file))
    of_json = {name: document for name, document in documents.items() if "runs" not in document}
    seconds = sum(number_in(document, "duration_s", name) for name, document in of_json.items())
    report = replace(report, duration=seconds)
    _write(report, outputs, parts.rules, flags)
    tell_about_baseline(report, quiet=False)
    return _exit_code(report, flags["fail_on"] or parts.settings.fail_on.value)


def _merge_sarif(documents: Mapping[Path, dict[str, Any]], outputs: Sequence[Output], flags: dict[str, Any]) -> int:
    """Write one SARIF report of several; its results hold less than a report in another format would need."""
    document = merge_sarif(documents)
    for output in outputs:
        if output.format != "sarif":
            raise UsageError(
                f"--output-format: `{output.format}` cannot be made of SARIF reports of whole runs; "
                "expected `sarif`, or reports in JSON"
            )
        text = json.dumps(document, indent=2, ensure_ascii=False)
        deliver(f"{text}\n", output.file, "--output-format", is_data=True)
    if not document["runs"][0]["invocations"][0]["executionSuccessful"]:
        return 2
    found = most_severe(document)
    return int(found is not None and found >= Severity(flags["fail_on"] or "warning"))


def _write(report: Report, outputs: Sequence[Output], rules: RuleSet, flags: dict[str, Any]) -> None:
    shown = {"color": flags["color"], "quiet": False, "statistics": False, "output_file": None}
    write(report, outputs, rules, None, shown)
    tell_what_is_missing(report, quiet=False)


def _exit_code(report: Report, fail_on: str) -> int:
    if report.crashes:
        return 2
    return int(any(finding.severity >= Severity(fail_on) for finding in report.findings))
