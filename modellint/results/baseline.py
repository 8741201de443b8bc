"""Findings that are known and accepted for now: `--baseline` hides them, `--write-baseline` writes them down.

The file is JSON and sorted, so that changes of it read well in a review. An entry holds a finding's fingerprint, which
survives moved lines, and what it takes to find it again when its file has got another name.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config.errors import UsageError
from modellint.reading.files import parse_json, read_file
from modellint.reading.paths import no_json, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from modellint.finding import Finding

_VERSION = 1
_KEYS = ("fingerprint", "code", "path", "symbol", "message")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One accepted finding; `path` is relative to the baseline's folder, with `/`."""

    path: str
    code: str
    symbol: str
    message: str
    fingerprint: str

    @property
    def likeness(self) -> tuple[str, str, str]:
        """The parts of an entry that a rename of its file does not change."""
        return self.code, self.symbol, self.message


@dataclass
class Comparison:
    """The comparison of a run with a baseline: new findings, and stale entries.

    `renamed` are pairs of an old and a new path; `stale` entries fit nothing that was found.
    """

    new: list[Finding] = field(default_factory=list)
    hidden: int = 0
    renamed: list[tuple[str, str]] = field(default_factory=list)
    stale: list[Entry] = field(default_factory=list)


class Baseline:
    """The entries of a baseline file."""

    def __init__(self, file: Path, entries: Iterable[Entry] = ()) -> None:
        self.file = Path(os.path.abspath(file))
        self.entries = sorted(entries)

    @classmethod
    def read(cls, file: Path, origin: str = "--baseline") -> Baseline:
        """Read a baseline, which `origin` names. Raises UsageError, with the line where it can, if it is none."""
        try:
            document = parse_json(read_file(file))
        except OSError as error:
            hint = "; `--write-baseline` makes one" if isinstance(error, FileNotFoundError) else ""
            raise UsageError(f"{origin}: {shown(file)}: {error.strerror}{hint}") from None
        except ValueError as error:
            raise UsageError(f"{origin}: {no_json(file, error)}; expected what `--write-baseline` writes") from None
        if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
            raise UsageError(
                f"{origin}: {shown(file)}: expected an object with a list `findings`, as `--write-baseline` has it"
            )
        if document.get("version") != _VERSION:
            raise UsageError(f"{origin}: {shown(file)}: version {document.get('version')!r}; expected {_VERSION}")
        return cls(file, [_entry(item, file, number) for number, item in enumerate(document["findings"], 1)])

    def compare(self, findings: Sequence[Finding], checked: Collection[str], codes: Collection[str]) -> Comparison:
        """Separate new findings from known ones; `checked` are the files that were checked for findings of `codes`."""
        result = Comparison()
        known = Counter(entry.fingerprint for entry in self.entries)
        remaining: list[Finding] = []
        for finding in findings:
            if known[finding.fingerprint]:
                known[finding.fingerprint] -= 1
                result.hidden += 1
            else:
                remaining.append(finding)
        left = [entry for entry in self.entries if known[entry.fingerprint] and self._is_due(entry, checked, codes)]
        self._follow_renames(remaining, left, result)
        return result

    def _is_due(self, entry: Entry, checked: Collection[str], codes: Collection[str]) -> bool:
        """True if an entry would have been found if it still held: its file was checked for it, or is gone."""
        path = self._absolute(entry.path)
        return (path in checked and entry.code in codes) or not os.path.exists(path)

    def _follow_renames(self, findings: Sequence[Finding], left: Sequence[Entry], result: Comparison) -> None:
        """Match findings in new files with entries of files that are gone, if they are alike."""
        gone: dict[tuple[str, str, str], list[Entry]] = defaultdict(list)
        for entry in left:
            if not os.path.exists(self._absolute(entry.path)):
                gone[entry.likeness].append(entry)
        named = {entry.path for entry in self.entries}
        moved: set[Entry] = set()
        for finding in findings:
            new = self._relative(finding.path)
            alike = gone.get((finding.code, finding.symbol, finding.message))
            if not alike or new in named:
                result.new.append(finding)
                continue
            entry = alike.pop(0)
            moved.add(entry)
            result.hidden += 1
            if (entry.path, new) not in result.renamed:
                result.renamed.append((entry.path, new))
        result.stale = [entry for entry in left if entry not in moved]

    def updated(self, findings: Iterable[Finding], checked: Collection[str], codes: Collection[str]) -> Baseline:
        """The baseline with the present findings; entries that were not checked stay."""
        found = [
            Entry(self._relative(finding.path), finding.code, finding.symbol, finding.message, finding.fingerprint)
            for finding in findings
        ]
        again = {entry.fingerprint for entry in found}
        kept = [
            entry
            for entry in self.entries
            if not self._is_due(entry, checked, codes) and entry.fingerprint not in again
        ]
        return Baseline(self.file, [*kept, *found])

    def write(self) -> None:
        """Write the file, whole or not at all. Raises UsageError."""
        from modellint.reading.files import write_atomically

        listed = [{key: getattr(entry, key) for key in _KEYS} for entry in self.entries]
        text = json.dumps({"version": _VERSION, "findings": listed}, indent=2, ensure_ascii=False)
        try:
            write_atomically(self.file, f"{text}\n".encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise UsageError(f"--write-baseline: {shown(self.file)}: {error.strerror}") from None

    def _absolute(self, path: str) -> str:
        return Path(os.path.normpath(self.file.parent / path)).as_posix()

    def _relative(self, path: str) -> str:
        return shown(path, self.file.parent)


def _entry(item: Any, file: Path, number: int) -> Entry:
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in _KEYS):
        listed = ", ".join(f"`{key}`" for key in _KEYS)
        raise UsageError(f"--baseline: {shown(file)}: finding {number}: expected an object with the strings {listed}")
    return Entry(**{key: item[key] for key in _KEYS})
