"""A project under edit: findings for the files that are open, brought up to date with every change.

Knows nothing of the protocol. Facts of files that did not change are kept, so that a change costs no more than the file
it was made in, and the open files that rest on it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from modellint.analyser import Analyser
from modellint.linter import settled
from modellint.packs import select_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from modellint.analyser import FileResult
    from modellint.config import Settings
    from modellint.files import Files
    from modellint.finding import Finding
    from modellint.link.project import Project

T = TypeVar("T")


class Session:
    """The open files of one project, and what checking them gave."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rules = select_rules(settings)
        self._analyser = Analyser(self.rules, settings, record=True)
        self._results: dict[Path, FileResult] = {}
        self._good: dict[Path, tuple[Finding, ...]] = {}
        self._outdated: dict[Path, None] = {}

    @property
    def files(self) -> Iterable[Path]:
        """The open files."""
        return self._results.keys() | self._outdated.keys()

    @property
    def is_outdated(self) -> bool:
        """Whether there is something to check."""
        return bool(self._outdated)

    def open(self, path: Path, data: bytes) -> None:
        """A file is shown, or was edited: `data` counts, not what is on disk."""
        self._outdated = {path: None} | self._outdated
        self._changed(self._analyser.update(path, data))

    def close(self, path: Path) -> None:
        """A file is no longer shown: what is on disk counts, and its findings are those of others."""
        self._outdated.pop(path, None)
        self._results.pop(path, None)
        self._good.pop(path, None)
        self._changed(self._analyser.update(path, None))

    def touch(self, path: Path) -> None:
        """A file that is not open changed on disk, came or went."""
        if path not in self.files:
            self._changed(self._analyser.update(path, None))

    def check(self) -> None:
        """Check the file that changed last, or the next one of those that rest on it."""
        path = next(iter(self._outdated))
        del self._outdated[path]
        result = self._analyser.analyse(path)
        if result.readable:
            self._good[path] = result.findings
        else:
            # While a line is being typed the file is no Python: what was found before still helps.
            result = replace(result, findings=result.findings + self._good.get(path, ()))
        self._results[path] = result

    def tidy(self) -> None:
        """Let go of what no open file rests on any more, say since an import is another one now.

        While a file is half typed, nobody knows what it will rest on.
        """
        if all(result.readable for result in self._results.values()):
            self._analyser.keep(self._results.values())

    def findings(self) -> list[Finding]:
        """What is to be shown of all open files, in these and in the files that they are linked with."""
        results = {path.as_posix(): result for path, result in self._results.items()}
        found = settled(results, self.settings, self.rules, self._analyser.files)
        return [finding for finding in found if finding.confidence >= self.settings.min_confidence]

    def contents(self) -> Files:
        """What files hold, with those that are open as they are in the editor."""
        return self._analyser.files

    def ask(self, question: Callable[[Project], T]) -> T:
        """What the linked project says to a question."""
        return self._analyser.ask(question)

    def _changed(self, keys: set[str]) -> None:
        """Check again what rests on any of `keys`, after what is to be checked already."""
        for path, result in self._results.items():
            if any(key in keys for key, _ in result.dependencies):
                self._outdated.setdefault(path)
