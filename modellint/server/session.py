"""A project under edit: findings for the files that are open, brought up to date with every change.

Knows nothing of the protocol. Facts of files that did not change are kept, so that a change costs no more than the file
it was made in, and the open files that rest on it. Large files are not checked here, but by whoever asks `aside`; nor
are they read for others.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from modellint.link.budget import SupersededError
from modellint.linter import settled
from modellint.packs import select_rules
from modellint.pipeline.analyser import Analyser
from modellint.pipeline.cache import is_cache, outlines_in
from modellint.reading.mentioning import MENTIONS
from modellint.reading.outlines import Outlines
from modellint.results.failures import Crash
from modellint.server.layout import Layout, relaid
from modellint.server.typed import Typed
from modellint.source import PYTHON, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.config import Settings
    from modellint.finding import Finding
    from modellint.link.project import Project
    from modellint.pipeline.analyser import FileResult
    from modellint.reading.files import Files
    from modellint.reading.sizes import Oversized

T = TypeVar("T")

#: How many of the latest contents of a file are known with what they gave: most edits that are taken back are.
_LATEST = 8
#: Bytes that a file may have to be checked at once. Python parses a million in a quarter of a second, and holds up
#: everything else that long.
LARGE = 1_000_000


@dataclass(frozen=True)
class Task:
    """A file to be checked elsewhere, with the files that are not as they are on disk."""

    settings: Settings
    overlay: dict[Path, bytes]
    path: Path


class Session:
    """The open files of one project, and what checking them gave."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rules = select_rules(settings)
        outlines = outlines_in(settings) if is_cache(settings.cache_folder) else Outlines()
        self._analyser = Analyser(self.rules, settings, record=True, largest=LARGE, outlines=outlines)
        self._open: set[Path] = set()
        self._results: dict[Path, FileResult] = {}
        #: What was found in files when they were last understood, and what the files held that this speaks of.
        self._good: dict[Path, tuple[tuple[Finding, ...], dict[str, bytes]]] = {}
        #: The latest contents of each Python file that were checked and understood, and what they gave.
        self._known: dict[Path, deque[tuple[Layout, FileResult]]] = {}
        self._outdated: dict[Path, None] = {}
        self._failures: dict[Crash, None] = {}
        self._told: set[tuple[str, str]] = set()
        #: Large files, and since when they wait.
        self._aside: dict[Path, float] = {}

    @property
    def is_outdated(self) -> bool:
        """Whether there is something to check."""
        return bool(self._outdated)

    def is_checked(self, path: Path) -> bool:
        """Whether what was found in an open file is about its present text."""
        return path in self._results and path not in self._outdated and path not in self._aside

    def is_aside(self, path: Path) -> bool:
        """Whether a file is to be checked elsewhere."""
        return path in self._aside

    def open(self, path: Path, data: bytes) -> None:
        """A file is shown, or was edited: `data` counts, not what is on disk."""
        self._open.add(path)
        self._aside.pop(path, None)
        self._outdated = {path: None} | self._outdated
        self._changed(self._analyser.update(path, data))

    def close(self, path: Path) -> None:
        """A file is no longer shown: what is on disk counts, and its findings are those of others."""
        self._open.discard(path)
        for known in (self._outdated, self._aside, self._results, self._good, self._known):
            known.pop(path, None)
        self._changed(self._analyser.update(path, None))

    def touch(self, path: Path) -> None:
        """A file that is not open, or a folder with such files, changed on disk, came or went."""
        for changed in (path, *self._below(path)):
            if changed not in self._open:
                self._changed(self._analyser.update(changed, None))

    def _below(self, folder: Path) -> set[Path]:
        """What findings rest on and is, or could be, in a folder; nothing for what has the name of a file."""
        if kind_of(folder.name) is not None:
            return set()
        start = f"{folder.as_posix()}/"
        keys = {key for result in self._results.values() for key, _ in result.dependencies}
        names = {key.partition(":")[2] for key in keys if not key.startswith(MENTIONS)}
        return {Path(name) for name in names if name.startswith(start)}

    def check(self) -> None:
        """Check the file that changed last, or the next one of those that rest on it; or put it aside.

        One that is superseded meanwhile is checked after those that changed since.
        """
        path = next(iter(self._outdated))
        del self._outdated[path]
        data = self._analyser.files.read(path) or b""
        if len(data) > LARGE:
            self._aside[path] = time.monotonic()
            return
        try:
            self._keep(path, self._checked(path, data))
        except SupersededError:
            self._outdated[path] = None
        except Exception:
            self._results.pop(path, None)
            raise

    def supersede(self) -> None:
        """Give up the check that is under way, as there is a change; may be called from another thread."""
        self._analyser.supersede()

    def _checked(self, path: Path, data: bytes) -> FileResult:
        """What checking a file gives, or gave before where only its layout was another one."""
        layout = Layout.of(path, data) if kind_of(path.name) == PYTHON and self.rules.are_built_in else None
        if layout is None:
            return self._analyser.analyse(path)
        known = self._known.setdefault(path, deque(maxlen=_LATEST))
        moved = (relaid(result, before, layout) for before, result in known)
        renewed = (self._analyser.renewed(result, path, data) for result in moved if result is not None)
        result = next(filter(None, renewed), None)
        if result is None:
            result = self._analyser.analyse(path)
            module = self.ask(lambda project: project.python(path)) if result.readable else None
            layout.asked = frozenset(() if module is None else module.asked)
        if result.readable:
            known.appendleft((layout, result))
        return result

    @property
    def waits(self) -> bool:
        """Whether there is something to check elsewhere."""
        return bool(self._aside)

    def aside(self, seconds: float = 0.0) -> Task | None:
        """What is to be checked elsewhere, and has been as it is for some time; `take` is to be told what that gave."""
        latest = time.monotonic() - seconds
        path = next((path for path, since in self._aside.items() if since <= latest), None)
        return None if path is None else Task(self.settings, self._analyser.files.overlay, path)

    def take(self, path: Path, result: FileResult | None) -> None:
        """What checking a file elsewhere gave; None if it failed."""
        if path not in self._aside:
            return
        del self._aside[path]
        if result is None:
            self._results.pop(path, None)
        elif not all(self._analyser.files.holds(key, value) for key, value in result.dependencies):
            self._outdated[path] = None
        else:
            self._keep(path, result)

    def _keep(self, path: Path, result: FileResult) -> None:
        read = self._analyser.files.read
        if result.readable:
            paths = {place.path for finding in result.findings for place in finding.places}
            texts = {path: data for path in paths if (data := read(Path(path))) is not None}
            self._good[path] = result.findings, texts
        elif path in self._good:
            # While a line is being typed the file is no Python: what was found before still helps where its code is
            # still there. In a notebook the other cells are checked.
            findings, texts = self._good[path]
            known = {(finding.code, finding.symbol, finding.message) for finding in result.findings}
            typed = Typed(texts, read)
            before = (typed.finding(one) for one in findings if (one.code, one.symbol, one.message) not in known)
            result = replace(result, findings=(*result.findings, *filter(None, before)))
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
        failed = [crash for result in self._results.values() for crash in result.crashes]
        self._failures = dict.fromkeys((*failed, *found.crashes))
        return [finding for finding in found.findings if finding.confidence >= self.settings.min_confidence]

    def news(self) -> list[Crash | Oversized]:
        """What failed when `findings` were asked for last, and files too large to be checked; each until it is over."""
        oversized = [file for result in self._results.values() if (file := result.oversized) is not None]
        items: list[Crash | Oversized] = [*self._failures, *oversized]
        now = {_about(item): item for item in items}
        told, self._told = self._told, set(now)
        return [item for about, item in now.items() if about not in told]

    def contents(self) -> Files:
        """What files hold, with those that are open as they are in the editor."""
        return self._analyser.files

    def ask(self, question: Callable[[Project], T]) -> T:
        """What the linked project says to a question."""
        return self._analyser.ask(question)

    def _changed(self, keys: set[str]) -> None:
        """Check again what rests on any of `keys`, after what is to be checked already."""
        for path, result in self._results.items():
            if result.rests_on(keys):
                self._outdated.setdefault(path)


def _about(item: Crash | Oversized) -> tuple[str, str]:
    """What is told of a file, whatever its size is after the next key."""
    return item.path, f"{item.part}: {item.error}" if isinstance(item, Crash) else ""
