"""Reports of several runs as one: what `--output-format json` wrote, read back."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from modellint.config.errors import UsageError
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
from modellint.reading.files import parse_json, read_file
from modellint.reading.paths import no_json
from modellint.reading.sizes import Oversized
from modellint.results.failures import Crash
from modellint.results.report import Inventory, Report
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

T = TypeVar("T")
#: The lists of a report, and what messages call one of their items.
_NAMES = {"findings": "finding", "errors": "error", "skipped": "skipped file"}


def merge_reports(documents: Mapping[Path, dict[str, Any]]) -> Report:
    """One report of several JSON reports. Raises UsageError for one that is not as it should be."""
    findings: dict[tuple[str, str, Place], Finding] = {}
    crashes: dict[Crash, None] = {}
    skipped: dict[Oversized, None] = {}
    checked, duration = 0.0, 0.0
    inventory: Inventory | None = Inventory()
    for file, document in documents.items():
        checked += number_in(document, "files_checked", file)
        duration += number_in(document, "duration_s", file)
        told = _inventory(document, file)
        inventory = None if inventory is None or told is None else inventory.plus(told)
        for finding in _items(document, "findings", file, read_finding):
            findings.setdefault((finding.code, finding.symbol, finding.place), finding)
        crashes |= dict.fromkeys(_items(document, "errors", file, read_crash))
        skipped |= dict.fromkeys(_items(document, "skipped", file, read_oversized))
    ordered = sorted(findings.values(), key=lambda finding: finding.sort_key)
    return Report(tuple(ordered), int(checked), tuple(crashes), duration, skipped=tuple(skipped), inventory=inventory)


def _inventory(document: dict[str, Any], file: Path) -> Inventory | None:
    """The inventory of a report; None if it is of an earlier release that wrote none."""
    listed = document.get("inventory")
    if listed is None:
        return None
    if not isinstance(listed, dict):
        raise UsageError(f"{file}: `inventory` is not an object; expected what `--output-format json` writes")
    listed = {"models": 0, **listed}  # which earlier releases did not count
    return Inventory(*(int(number_in(listed, key, file)) for key in Inventory._fields))


def _items(document: dict[str, Any], key: str, file: Path, read: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    """The items of a list in a report; earlier releases may not have written it."""
    items = document.get(key, [])
    if not isinstance(items, list):
        raise UsageError(f"{file}: `{key}` is not a list; expected what `--output-format json` writes")
    for number, item in enumerate(items, 1):
        yield _parse_item(item, read, f"{file}: {_NAMES[key]} {number}")


def _parse_item(item: Any, read: Callable[[dict[str, Any]], T], name: str) -> T:
    try:
        return read(item)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"{name} is not as `--output-format json` has it ({reason})") from None


def read_document(file: Path) -> dict[str, Any]:
    """The object in a JSON file; a report in JSON or SARIF, as far as its keys tell. Raises UsageError."""
    try:
        document = parse_json(read_file(file))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{no_json(file, error)}; expected what `--output-format json` writes") from None
    if isinstance(document, dict) and isinstance(document.get("runs"), list):
        return document
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise UsageError(f"{file}: no list `findings`; expected what `--output-format json` writes")
    if "files_checked" not in document and isinstance(document.get("version"), int):
        raise UsageError(f"{file}: a baseline; expected what `--output-format json` writes")
    return document


def number_in(document: dict[str, Any], key: str, file: Path) -> float:
    """A number in a report. Raises UsageError if it is none."""
    value = document.get(key)
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise UsageError(f"{file}: `{key}` is not a number; expected what `--output-format json` writes")
    return value


def read_finding(item: dict[str, Any]) -> Finding:
    """A finding in a report, of which paths are relative to the working directory."""
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
        verdict=Verdict(Status(verdict["status"]), verdict["device"], verdict["detail"] or ""),
        fingerprint=str(item["fingerprint"]),
    )


def read_crash(item: dict[str, Any]) -> Crash:
    """A failure of our own in a report."""
    return Crash(str(item["part"]), absolute(item["path"]), str(item["error"]))


def read_oversized(item: dict[str, Any]) -> Oversized:
    """A file that was not read, in a report."""
    tokens = item["tokens"]
    size, limit = int(item["size"]), int(item["max_file_size"])
    return Oversized(absolute(item["path"]), size, limit, None if tokens is None else int(tokens))


def _place(item: dict[str, Any]) -> Place:
    numbers = [int(item[key]) for key in ("line", "column", "end_line", "end_column")]
    return Place(absolute(item["path"]), Span(*numbers), _cell(item))


def _cell(item: dict[str, Any]) -> int:
    """The number of the notebook cell that an item is in."""
    return int(item.get("cell") or 0)


def _fix(item: dict[str, Any]) -> Fix:
    edits = tuple(
        Edit(Place(absolute(edit["path"]), _span(edit["start"], edit["end"]), _cell(edit)), str(edit["text"]))
        for edit in item["edits"]
    )
    return Fix(str(item["message"]), Applicability(item["applicability"]), edits)


def _span(start: Sequence[int], end: Sequence[int]) -> Span:
    (line, column), (end_line, end_column) = start, end
    return Span(int(line), int(column), int(end_line), int(end_column))


@contextmanager
def refusing(file: Path, what: str, expected: str) -> Iterator[None]:
    """Raise UsageError if the block finds a part of a file malformed, with what was expected."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UsageError(f"{file}: {what} is malformed ({type(error).__name__}: {error}); {expected}") from None


def absolute(path: str) -> str:
    """A path of a report, which is relative to the working directory."""
    return Path(os.path.abspath(path)).as_posix()
