"""Reports in the formats that are wanted, each written to its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.results.outputs import (
    HUMAN_FORMATS,
    deliver,
    terminal_width,
    wants_colour,
    wants_links,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modellint.packs import RuleSet
    from modellint.reporters import View
    from modellint.results.outputs import Output
    from modellint.results.report import Report


def write(
    report: Report,
    outputs: Sequence[Output],
    rules: RuleSet,
    overlay: dict[Path, bytes] | None,
    flags: dict[str, Any],
    packages: Callable[[], str] = lambda: "",
) -> None:
    """Write a report in the requested formats, each to its file; `packages` describes the known packages."""
    from modellint.reading.files import Files
    from modellint.reporters import View, render
    from modellint.results.causes import by_cause

    files = Files(overlay)
    report = replace(report, findings=by_cause(report.findings))
    for output in outputs:
        colour = output.file is None and wants_colour(flags["color"])
        is_shown = output.file is None
        view = View(
            Path.cwd(),
            files,
            rules=rules.rules,
            colour=colour,
            quiet=flags["quiet"],
            links=is_shown and wants_links(flags["color"]),
            width=terminal_width(flags["color"]) if is_shown else None,
            packages=packages,
        )
        text = _statistics(report, output.format, view) if flags["statistics"] else render(output.format, report, view)
        option = "--output-file" if flags["output_file"] else "--output-format"
        deliver(text, output.file, option, is_data=output.format not in HUMAN_FORMATS)


def _statistics(report: Report, output_format: str, view: View) -> str:
    """The statistics of rules: the number of findings, and of those with a safe fix."""
    from collections import Counter

    from modellint.finding import Applicability
    from modellint.reporters.text import looked_at, styled, summary

    counts = Counter((finding.code, finding.name, finding.severity) for finding in report.findings)
    fixable = Counter(
        (finding.code, finding.name, finding.severity)
        for finding in report.findings
        if finding.fix is not None and finding.fix.applicability is Applicability.SAFE
    )
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0][0]))
    if output_format.startswith("json"):
        import json

        listed = [
            {"code": code, "name": name, "severity": severity.value, "count": count, "fixable": fixable[kind]}
            for kind, count in rows
            for code, name, severity in (kind,)
        ]
        return json.dumps(listed, indent=2) + "\n"
    table = [("count", "code", "name", "severity", "fixable")]
    table += [
        (str(count), code, name, str(severity), str(fixable[kind] or ""))
        for kind, count in rows
        for code, name, severity in (kind,)
    ]
    lines = _aligned_rows(table) if rows else []
    if lines:
        lines[0] = styled(lines[0], view, bold=True)
    return "".join(f"{line}\n" for line in (*lines, *looked_at(report, view), *summary(report, view)))


def _aligned_rows(table: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows of a table with aligned columns; the first and the last, which are numbers, to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    last = len(widths) - 1
    return [
        "  ".join(
            cell.rjust(width) if number in (0, last) else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
