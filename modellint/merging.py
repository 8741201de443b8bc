"""Reports of several runs as one: what `--output-format json` wrote, read back."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config.errors import UsageError
from modellint.files import parse_json, read_file
from modellint.finding import (
    Applicability,
    Confidence,
    Edit,
    Finding,
    Fix,
    Related,
    Severity,
    Status,
    Verdict,
)
from modellint.outputs import no_json
from modellint.report import Report
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def merged(files: Iterable[Path]) -> Report:
    """One report of several files. Raises UsageError for a file that is missing or holds something else."""
    findings: dict[tuple[str, str, Place], Finding] = {}
    checked, duration = 0.0, 0.0
    for file in files:
        document = _read(file)
        checked += _number(document, "files_checked", file)
        duration += _number(document, "duration_s", file)
        for number, item in enumerate(document["findings"], 1):
            try:
                finding = _finding(item)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                reason = f"{type(error).__name__}: {error}"
                raise UsageError(
                    f"{file}: finding {number} is not as `--output-format json` has it ({reason})"
                ) from None
            findings.setdefault((finding.code, finding.symbol, finding.place), finding)
    ordered = sorted(findings.values(), key=lambda finding: finding.sort_key)
    return Report(tuple(ordered), int(checked), (), duration)


def _read(file: Path) -> dict[str, Any]:
    try:
        document = parse_json(read_file(file))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{no_json(file, error)}; expected what `--output-format json` writes") from None
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise UsageError(f"{file}: no list `findings`; expected what `--output-format json` writes")
    return document


def _number(document: dict[str, Any], key: str, file: Path) -> float:
    value = document.get(key)
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"{file}: `{key}` is no number; expected what `--output-format json` writes")
    return value


def _finding(item: dict[str, Any]) -> Finding:
    verdict = item["verdict"]
    return Finding(
        code=str(item["code"]),
        name=str(item["name"]),
        message=str(item["message"]),
        severity=Severity(item["severity"]),
        confidence=Confidence(item["confidence"]),
        place=_place(item),
        symbol=str(item["symbol"]),
        evidence=tuple(map(str, item["evidence"])),
        related=tuple(Related(_place(other), str(other["message"])) for other in item["related"]),
        help=str(item["help"]),
        fix=None if item["fix"] is None else _fix(item["fix"]),
        verdict=Verdict(Status(verdict["status"]), verdict["device"], verdict["detail"]),
        fingerprint=str(item["fingerprint"]),
    )


def _place(item: dict[str, Any]) -> Place:
    numbers = [int(item[key]) for key in ("line", "column", "end_line", "end_column")]
    return Place(_absolute(item["path"]), Span(*numbers), _cell(item))


def _cell(item: dict[str, Any]) -> int:
    """The cell that an item is in, if it is in a notebook."""
    return int(item.get("cell") or 0)


def _fix(item: dict[str, Any]) -> Fix:
    edits = tuple(
        Edit(Place(_absolute(edit["path"]), _span(edit["start"], edit["end"]), _cell(edit)), str(edit["text"]))
        for edit in item["edits"]
    )
    return Fix(str(item["message"]), Applicability(item["applicability"]), edits)


def _span(start: Sequence[int], end: Sequence[int]) -> Span:
    (line, column), (end_line, end_column) = start, end
    return Span(int(line), int(column), int(end_line), int(end_column))


def _absolute(path: str) -> str:
    return Path(os.path.abspath(path)).as_posix()
