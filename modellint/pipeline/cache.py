"""The cache of results of earlier runs: a result is valid as long as all its dependencies look the same.

One file for each combination of modellint, rules, Python and settings, with two JSON documents: the results with a
fingerprint of all dependencies together, and the dependencies of each result, which are read if that fingerprint
differs. JSON, because reading it can run nothing. A checksum comes first, so that a truncated or changed file is
ignored, and the type of each value is checked, so that a malformed result is ignored. A file that passes both is
trusted: whoever can write one decides the findings, as they could by changing the settings or the rules.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.packs import pack_files
from modellint.pipeline.analyser import FileResult
from modellint.reading.digest import digest
from modellint.reading.files import parse_json, read_file
from modellint.reading.index import Index, Indexes
from modellint.reading.index import remove as remove_index
from modellint.reading.sealed import documents_in, write_sealed
from modellint.reading.unchanged import Look
from modellint.results.report import Inventory, ScriptChoice
from modellint.results.suppressions import Suppression
from modellint.source import Place, Span
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim
    from modellint.config import Settings
    from modellint.packs import RuleSet

T = TypeVar("T")

_FORMAT = 9
_SUFFIX = ".results"
_KEPT = 8
#: The number of parts of a file's entry.
_PARTS = 6
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder holds the cache of modellint; it can be deleted.\n"


class Cache:
    """Results of earlier runs, and those that this run adds."""

    def __init__(self, folder: Path, key: str, limit: int | None = None, *, with_dependencies: bool = True) -> None:
        """`with_dependencies` makes `get` fill in dependencies; `limit` is the largest size of files that are read."""
        self._folder = folder
        self._file = folder / f"{key}{_SUFFIX}"
        self._key = key
        self._with_dependencies = with_dependencies
        self._look = Look(limit)
        #: The second document (dependencies), until it is read.
        self._written: Iterator[bytes] | None = None
        self._pairs: list[tuple[str, str]] = []
        self._numbers: dict[str, Any] = {}
        self._good: set[int] = set()
        self._bad: set[int] = set()
        #: Names of files whose results are known to be outdated.
        self._stale: frozenset[str] = frozenset()
        #: True if all dependencies of the other results are unchanged.
        self._is_current = False
        self._entries = self._load()
        self._new: dict[str, FileResult] = {}
        self._held: set[str] = set()

    def get(self, path: Path) -> FileResult | None:
        """The cached result of a file; None if there is none, or a dependency has changed."""
        name = path.as_posix()
        try:
            findings, suppressions, readable, unfinished, inventory, paired = _list(self._entries[name], _PARTS)
            if name in self._stale or not (self._is_current or self._is_as_it_was(name)):
                return None
            numbers = self._rests_on(name) if self._with_dependencies else ()
            result = FileResult(
                name,
                tuple(map(_finding, _list(findings))),
                tuple(map(_suppression, _list(suppressions))),
                _as_type(readable, bool),
                dependencies=tuple(self._pairs[number] for number in numbers),
                unfinished=tuple((_text(code), _text(about)) for code, about in map(_pair, _list(unfinished))),
                inventory=Inventory(*map(_natural, _list(inventory, len(Inventory._fields)))),
                paired=_choice(paired),
            )
        except Exception:  # whatever a value of another kind leads to, also in the claims of rule packs
            return None
        self._held.add(name)
        return result

    def put(self, result: FileResult) -> None:
        """Add a result, unless the file was too large or a crash left the result incomplete."""
        if not result.crashes and result.oversized is None:
            self._new[result.path] = result

    def save(self) -> None:
        """Write old and new results atomically; a folder that cannot be written is no error.

        Writes without new results, too, if the next run would have to check dependencies one by one otherwise.
        """
        if not self._new and (self._is_current or not self._entries or self._held != self._entries.keys()):
            return
        numbers: dict[tuple[str, str], int] = {}
        entries: dict[str, Any] = {}
        rests: dict[str, list[int]] = {}
        renumbered: dict[int, int] = {}
        for name in self._names_to_keep():
            entries[name] = self._entries[name]
            old = self._rests_on(name)
            for number in set(old).difference(renumbered):
                renumbered[number] = numbers.setdefault(self._as_now(number), len(numbers))
            rests[name] = [renumbered[number] for number in old]
        for name, result in self._new.items():
            rests[name] = [numbers.setdefault(pair, len(numbers)) for pair in result.dependencies]
            entries[name] = [
                [_finding_json(finding) for finding in result.findings],
                [_suppression_json(suppression) for suppression in result.suppressions],
                result.readable,
                result.unfinished,
                result.inventory,
                result.paired,
            ]
        pairs = list(numbers)
        state, stale = self._state(pairs, rests)
        head = {"format": _FORMAT, "key": self._key, "state": state, "stale": stale, "entries": entries}
        try:
            write_sealed(self._file, head, {"pairs": pairs, "rests": rests})
            self._drop_old()
        except OSError:
            return

    def _state(self, pairs: list[tuple[str, str]], rests: dict[str, list[int]]) -> tuple[Any, list[str]]:
        """The state of all dependencies now, and the outdated results; None and [] if not all results were used."""
        if rests.keys() != self._held | self._new.keys():
            return None, []
        look = Look(self._look.limit, {**self._look.known, **self._look.marked})
        bad = {number for number, pair in enumerate(pairs) if not look.holds(*pair)}
        return look.state(), [name for name, numbers in rests.items() if not bad.isdisjoint(numbers)]

    def _as_now(self, number: int) -> tuple[str, str]:
        """A dependency as (key, fingerprint), with the fingerprint that is fastest to compare if it still holds."""
        key, fingerprint = self._pairs[number]
        return key, self._look.renewed(key, fingerprint) if number in self._good else fingerprint

    def _is_as_it_was(self, name: str) -> bool:
        """True if each dependency of a result is unchanged."""
        numbers = set(self._rests_on(name))
        if not numbers.isdisjoint(self._bad):
            return False
        for number in numbers - self._good:
            holds = self._look.holds(*self._pairs[number])
            (self._good if holds else self._bad).add(number)
            if not holds:
                return False
        return True

    def _rests_on(self, name: str) -> list[int]:
        """The numbers of a result's dependencies. Raises ValueError, KeyError or TypeError if they are malformed."""
        if self._written is not None:
            written, self._written = self._written, None
            document = _as_type(parse_json(next(written, b"")), dict)
            self._pairs = [(_text(key), _text(value)) for key, value in map(_pair, _list(document["pairs"]))]
            self._numbers = _as_type(document["rests"], dict)
        numbers = _list(self._numbers[name])
        if not set(map(type, numbers)) <= {int} or (
            numbers and not 0 <= min(numbers) <= max(numbers) < len(self._pairs)
        ):
            raise ValueError(f"{name} rests on what is not there")
        return numbers

    def _load(self) -> dict[str, Any]:
        """Read the results, and set `_is_current` by the state of their dependencies; {} if there are none."""
        try:
            self._written = documents_in(read_file(self._file))
            head = _as_type(parse_json(next(self._written, b"")), dict)
            if head["format"] != _FORMAT or head["key"] != self._key:
                return {}
            self._stale, entries = frozenset(_texts(head["stale"])), _as_type(head["entries"], dict)
            self._is_current = head["state"] is not None and self._look.confirms(head["state"])
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return {}
        return entries

    def _names_to_keep(self) -> Iterator[str]:
        """The names of old entries to write again: well-formed, not replaced, and of files that still exist."""
        for name, entry in self._entries.items():
            if name in self._new or not isinstance(entry, list) or len(entry) != _PARTS or not os.path.exists(name):
                continue
            try:
                self._rests_on(name)
            except (ValueError, KeyError, TypeError):
                continue
            yield name

    def _drop_old(self) -> None:
        """Remove all cache files but the most recent ones."""
        by_age = sorted(self._folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in by_age[_KEPT:]:
            file.unlink(missing_ok=True)


def cache_key(settings: Settings, rules: RuleSet) -> str:
    """The cache key: a digest of what results depend on besides files (modellint, rules, Python, settings)."""
    return _digest([*_circumstances(settings), sorted(rules.selected)])


def _circumstances(settings: Settings) -> list[object]:
    """The dependencies of all answers besides files: modellint, all rules, Python, and the settings about paths."""
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


def indexes_in(settings: Settings, *, is_kept: bool = True) -> Indexes:
    """The index of the project in the folder of the cache, if that `is_kept`, and the one that projects share."""
    own = Index(settings.cache_folder if is_kept else None, _digest(_engine()))
    shared = Index(settings.index_folder, _digest(_shared_engine(settings)), keeps_versions=True)
    return Indexes(own, shared, _digest(_circumstances(settings)))


@cache
def _engine() -> list[object]:
    """The dependencies of everything in the cache: modellint's files at the start of the process, and Python."""
    return [*_release(), *_engine_files()]


def _release() -> list[object]:
    return [__version__, sys.implementation.cache_tag, sys.version_info[:]]


def _shared_engine(settings: Settings) -> list[object]:
    """The dependencies of all answers about installed packages: modellint and Python, wherever they are, and rules.

    An installed modellint is told by the record of its installation, any other by the sizes and times of its files.
    """
    installed = _installation()
    packs = [(file.as_posix(), file.stat().st_mtime_ns) for file in pack_files(settings.rule_paths)]
    if not installed:
        return [*_engine(), *packs]
    top = os.path.dirname(_top())
    others = [(path, time) for path, time in packs if path.partition(f"{top}/modellint")[0]]
    return [*_release(), installed, *others]


@cache
def _installation() -> str:
    """A digest of the record of modellint's installation; empty for a source tree, whose files may change."""
    for record in Path(_top()).parent.glob("modellint-*.dist-info/RECORD"):
        lines = [line for line in record.read_bytes().splitlines() if line.startswith(b"modellint")]
        if any(line.startswith(b"modellint/") for line in lines):
            return digest(b"\n".join(sorted(lines)))
    return ""


def _top() -> str:
    return os.path.dirname(os.path.dirname(__file__))


def _engine_files() -> list[tuple[str, int, int]]:
    """modellint's files with sizes and modification times; paths are strings, which is faster at each start."""
    found, pending = [], [_top()]
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
    """Create the folder of the cache, before a result can depend on a listing of its parent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
            if not (folder / name).exists():
                (folder / name).write_text(text, encoding="utf-8")
    except OSError:
        return  # then nothing will be remembered


def is_cache(folder: Path) -> bool:
    """True if a folder has the tag of modellint's cache."""
    try:
        return (folder / "CACHEDIR.TAG").read_text("utf-8") == _TAG
    except (OSError, ValueError):
        return False


def remove(folder: Path) -> None:
    """Remove the files of the cache, and the folder if nothing else is in it. Raises OSError."""
    remove_index(folder)
    for file in (*folder.glob(f"*{_SUFFIX}"), folder / ".gitignore", folder / "CACHEDIR.TAG"):
        file.unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _as_type(value: Any, kind: type[T]) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, not {value!r}")
    return value


def _list(value: Any, length: int | None = None) -> list[Any]:
    """The value as a list, of `length` items if that is given. Raises TypeError or ValueError."""
    items = _as_type(value, list)
    if length not in (None, len(items)):
        raise ValueError(f"expected {length} items, not {len(items)}")
    return items


def _text(value: Any) -> str:
    return _as_type(value, str)


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _choice(value: Any) -> ScriptChoice | None:
    if value is None:
        return None
    scripts, reason, turned_down, original = _list(value, 4)
    pairs = tuple((_text(path), _text(why)) for path, why in map(_pair, _list(turned_down)))
    return ScriptChoice(_texts(scripts), _text(reason), pairs, _text(original))


def _natural(value: Any) -> int:
    number = _as_type(value, int)
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
        _as_type(whole_file, bool),
        _as_type(is_noqa, bool),
        _as_type(misplaced, bool),
        None if within is None else (first, last),
    )
