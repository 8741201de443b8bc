"""Results of earlier runs, by content: valid for as long as everything they rest on looks the same.

One JSON file for each combination of modellint, rules, Python and settings. JSON, because reading it can run
nothing. Its first line is a checksum of the rest, so that a file that was cut or changed in any byte is no cache, and
each value is read as of the type that it was written as, so that one that does not fit is no result. What both hold
for is believed: whoever can write such a file, with its checksum, decides what is found, as they could by changing the
settings or the rules.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.packs import pack_files
from modellint.pipeline.analyser import FileResult
from modellint.reading.digest import digest
from modellint.reading.outlines import Outlines, files_in, tidy
from modellint.reading.sealed import read_sealed, write_sealed
from modellint.results.report import Inventory, ScriptChoice
from modellint.results.suppressions import Suppression
from modellint.source import Place, Span
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from modellint.claims import Claim
    from modellint.config import Settings
    from modellint.packs import RuleSet
    from modellint.reading.files import Files

T = TypeVar("T")

_FORMAT = 6
_KEPT = 8
#: Of so many parts the entry of a file is made.
_PARTS = 7
#: The folder of the outlines of files.
_OUTLINES = "outlines"
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds the cache of modellint; it can be deleted.\n"


class Cache:
    """What is known about files from earlier runs, and what this run adds."""

    def __init__(self, folder: Path, key: str, files: Files) -> None:
        self._folder = folder
        self._file = folder / f"{key}.json"
        self._key = key
        self._files = files
        self._pairs, self._entries = self._load()
        self._holds: dict[tuple[str, str], bool] = {}
        self._new: dict[str, FileResult] = {}

    def get(self, path: Path) -> FileResult | None:
        """The result for a file, if everything that it rests on is as it was."""
        name = path.as_posix()
        try:
            numbers, findings, suppressions, readable, unfinished, inventory, paired = _list(
                self._entries[name], _PARTS
            )
            pairs = [self._pairs[_natural(number)] for number in _list(numbers)]
            if not all(map(self._is_as_it_was, pairs)):
                return None
            return FileResult(
                name,
                tuple(map(_finding, _list(findings))),
                tuple(map(_suppression, _list(suppressions))),
                _typed(readable, bool),
                dependencies=tuple(pairs),
                unfinished=_texts(unfinished),
                inventory=Inventory(*map(_natural, _list(inventory, 3))),
                paired=_choice(paired),
            )
        except Exception:  # whatever a value of another kind leads to, also in the claims of rule packs
            return None

    def put(self, result: FileResult) -> None:
        """Remember a result, unless the file was too large or a failure of our own left it incomplete."""
        if not result.crashes and result.oversized is None:
            self._new[result.path] = result

    def save(self) -> None:
        """Write what was added, all of it or nothing; a folder that cannot be written is no error."""
        if not self._new:
            return
        numbers: dict[tuple[str, str], int] = {}
        entries: dict[str, Any] = {}
        for name, (old, *rest) in self._kept():
            entries[name] = [[numbers.setdefault(self._pairs[n], len(numbers)) for n in old], *rest]
        for name, result in self._new.items():
            entries[name] = [
                [numbers.setdefault(pair, len(numbers)) for pair in result.dependencies],
                [_finding_json(finding) for finding in result.findings],
                [_suppression_json(suppression) for suppression in result.suppressions],
                result.readable,
                result.unfinished,
                result.inventory,
                result.paired,
            ]
        document = {"format": _FORMAT, "key": self._key, "pairs": list(numbers), "entries": entries}
        try:
            write_sealed(self._file, document)
            self._drop_old()
            tidy(self._folder / _OUTLINES)
        except OSError:
            return

    def _is_as_it_was(self, pair: tuple[str, str]) -> bool:
        holds = self._holds.get(pair)
        if holds is None:
            holds = self._holds[pair] = self._files.holds(*pair)
        return holds

    def _load(self) -> tuple[list[tuple[str, str]], dict[str, Any]]:
        try:
            document = _typed(read_sealed(self._file), dict)
            if document["format"] != _FORMAT or document["key"] != self._key:
                return [], {}
            pairs = [_list(pair, 2) for pair in _list(document["pairs"])]
            return [(_text(key), _text(value)) for key, value in pairs], _typed(document["entries"], dict)
        except (OSError, ValueError, KeyError, TypeError):
            return [], {}

    def _kept(self) -> Iterator[tuple[str, Any]]:
        """Old entries that are well-formed and not replaced, of files that still exist."""
        for name, entry in self._entries.items():
            if name in self._new or not isinstance(entry, list) or len(entry) != _PARTS:
                continue
            numbers = entry[0]
            if isinstance(numbers, list) and all(_is_index(n, self._pairs) for n in numbers) and os.path.exists(name):
                yield name, entry

    def _drop_old(self) -> None:
        """Keep the cache files of the settings that were used last."""
        by_age = sorted(self._folder.glob("*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in by_age[_KEPT:]:
            file.unlink(missing_ok=True)


def cache_key(settings: Settings, rules: RuleSet) -> str:
    """What results depend on besides the files that are read: us, the rules, Python and the settings."""
    return _digest([*_circumstances(settings), sorted(rules.selected)])


def _circumstances(settings: Settings) -> list[object]:
    """What is found out depends on: us, the rules whether they are selected or not, Python and where things are."""
    parts: list[object] = [
        *_engine(),
        os.environ.get("VIRTUAL_ENV"),
        settings.root.as_posix(),
        settings.python,
        settings.recipes,
    ]
    for file in pack_files(settings.rule_paths):
        status = file.stat()
        parts.append((file.as_posix(), status.st_size, status.st_mtime_ns))
    return parts


def _digest(parts: list[object]) -> str:
    return digest(repr(parts).encode("utf-8", "surrogatepass"), 12)


def outlines_in(settings: Settings) -> Outlines:
    """The outlines of files that are kept in the folder of the cache."""
    return Outlines(settings.cache_folder / _OUTLINES, _digest(_engine()), _digest(_circumstances(settings)))


@cache
def _engine() -> list[object]:
    """What everything depends on that is kept: us, as we were when the process began, and Python."""
    return [__version__, sys.implementation.cache_tag, sys.version_info[:], *_engine_files()]


def _engine_files() -> list[tuple[str, int, int]]:
    """Our own files, with their sizes and when they were changed: as strings, since each start has to look at all."""
    found, pending = [], [os.path.dirname(os.path.dirname(__file__))]
    while pending:
        with os.scandir(pending.pop()) as scan:
            for entry in scan:
                if not entry.is_dir():
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
                elif entry.name != "__pycache__":
                    pending.append(entry.path)
    return sorted(found)


def prepare(folder: Path) -> None:
    """Make the folder of the cache, before anything that depends on a listing of its parent is recorded."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
            if not (folder / name).exists():
                (folder / name).write_text(text, encoding="utf-8")
    except OSError:
        return  # then nothing will be remembered


def is_cache(folder: Path) -> bool:
    """Whether a folder was made for the cache."""
    try:
        return (folder / "CACHEDIR.TAG").read_text("utf-8") == _TAG
    except (OSError, ValueError):
        return False


def remove(folder: Path) -> None:
    """Remove what was remembered, and the folder if nothing else is in it. Raises OSError."""
    outlines = folder / _OUTLINES
    for file in (*folder.glob("*.json"), *files_in(outlines), folder / ".gitignore", folder / "CACHEDIR.TAG"):
        file.unlink(missing_ok=True)
    if outlines.is_dir() and not any(outlines.iterdir()):
        outlines.rmdir()
    if not any(folder.iterdir()):
        folder.rmdir()


def _is_index(number: object, pairs: Sequence[object]) -> bool:
    return type(number) is int and 0 <= number < len(pairs)


def _typed(value: Any, kind: type[T]) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, not {value!r}")
    return value


def _list(value: Any, length: int | None = None) -> list[Any]:
    """A list, of so many items if a length is given."""
    items = _typed(value, list)
    if length not in (None, len(items)):
        raise ValueError(f"expected {length} items, not {len(items)}")
    return items


def _text(value: Any) -> str:
    return _typed(value, str)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _choice(value: Any) -> ScriptChoice | None:
    if value is None:
        return None
    scripts, reason, turned_down, original = _list(value, 4)
    pairs = tuple((_text(path), _text(why)) for path, why in map(_pair, _list(turned_down)))
    return ScriptChoice(_texts(scripts), _text(reason), pairs, _text(original))


def _natural(value: Any) -> int:
    number = _typed(value, int)
    if number < 0:
        raise ValueError(f"expected a number from 0 up, not {number}")
    return number


def _place(value: Any) -> Place:
    return Place.from_list(_list(value, 5))


def _finding_json(finding: Finding) -> list[Any]:
    fix = finding.fix
    return [
        finding.code,
        finding.name,
        finding.message,
        finding.severity.value,
        finding.confidence.value,
        finding.place.as_list(),
        finding.symbol,
        finding.evidence,
        [[related.place.as_list(), related.message] for related in finding.related],
        finding.help,
        fix
        and [
            fix.message,
            fix.applicability.value,
            [[edit.place.as_list(), edit.text] for edit in fix.edits],
        ],
        finding.cause,
        finding.claim and _claim_json(finding.claim),
    ]


def _finding(data: Any) -> Finding:
    code, name, message, severity, confidence, place, symbol, evidence, *rest = _list(data, 13)
    related, help, fix, cause, claim = rest
    return Finding(
        code=_text(code),
        name=_text(name),
        message=_text(message),
        severity=Severity(_text(severity)),
        confidence=Confidence(_text(confidence)),
        place=_place(place),
        symbol=_text(symbol),
        evidence=_texts(evidence),
        related=tuple(Related(_place(where), _text(what)) for where, what in map(_pair, _list(related))),
        help=_text(help),
        fix=None if fix is None else _fix(fix),
        claim=None if claim is None else _claim(claim),
        cause=_text(cause),
    )


def _fix(data: Any) -> Fix:
    message, applicability, edits = _list(data, 3)
    changes = tuple(Edit(_place(where), _text(text)) for where, text in map(_pair, _list(edits)))
    return Fix(_text(message), Applicability(_text(applicability)), changes)


def _pair(value: Any) -> list[Any]:
    return _list(value, 2)


def _claim_json(claim: Claim) -> list[Any]:
    from modellint.claims import as_json

    return as_json(claim)


def _claim(data: Any) -> Claim:
    from modellint.claims import from_json

    return from_json(data)


def _suppression_json(suppression: Suppression) -> list[Any]:
    span = suppression.span
    return [
        [span.line, span.column, span.end_line, span.end_column],
        suppression.codes,
        suppression.whole_file,
        suppression.is_noqa,
        suppression.misplaced,
        suppression.within,
    ]


def _suppression(data: Any) -> Suppression:
    span, codes, whole_file, is_noqa, misplaced, within = _list(data, 6)
    line, column, end_line, end_column = map(_natural, _list(span, 4))
    first, last = (0, 0) if within is None else map(_natural, _pair(within))
    return Suppression(
        Span(line, column, end_line, end_column),
        _texts(codes),
        _typed(whole_file, bool),
        _typed(is_noqa, bool),
        _typed(misplaced, bool),
        None if within is None else (first, last),
    )
