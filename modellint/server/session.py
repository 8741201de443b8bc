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

from modellint.flow.shapes.shown import tensors_in
from modellint.link.budget import SupersededError
from modellint.linter import settled
from modellint.packs import select_rules
from modellint.pipeline.analyser import Analyser, Haste
from modellint.pipeline.cache import indexes_in, is_cache
from modellint.reading.mentioning import MENTIONS
from modellint.results.failures import Crash
from modellint.server.layout import Layout, relaid
from modellint.server.typed import Typed
from modellint.source import PYTHON, YAML, Place, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.config import Settings
    from modellint.finding import Finding
    from modellint.flow.shapes.shown import TensorExpression
    from modellint.link.project import Project
    from modellint.pipeline.analyser import Dependencies, FileResult
    from modellint.reading.files import Files
    from modellint.reading.sizes import Oversized

T = TypeVar("T")

#: The number of contents of a file whose results are kept: most edits that are undone are among them.
_LATEST = 8
#: Bytes that a file may have to be checked at once. Python parses a million in a quarter of a second, and holds up
#: everything else that long.
LARGE = 1_000_000
#: How much of a rule's cost counts at the next check.
_FADING = 0.8


@dataclass(frozen=True)
class Task:
    """A file to be checked in another process, with the contents that differ from the disk."""

    settings: Settings
    overlay: dict[Path, bytes]
    path: Path


class Session:
    """The open files of one project, with their results."""

    #: The processor time, in seconds, after which an editor gets a first answer.
    patience = 0.3

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.rules = select_rules(settings)
        indexes = indexes_in(settings, is_kept=is_cache(settings.cache_folder))
        self._analyser = Analyser(self.rules, settings, record=True, largest=LARGE, indexes=indexes)
        self._open: set[Path] = set()
        self._results: dict[Path, FileResult] = {}
        #: By file: the findings when it was last valid Python, and the contents that they are about.
        self._good: dict[Path, tuple[tuple[Finding, ...], dict[str, bytes]]] = {}
        #: By Python file: the layouts and results of its latest valid contents.
        self._known: dict[Path, deque[tuple[Layout, FileResult]]] = {}
        self._outdated: dict[Path, None] = {}
        self._failures: dict[Crash, None] = {}
        self._told: set[tuple[str, str]] = set()
        #: Large files, with the time since which they wait.
        self._aside: dict[Path, float] = {}
        #: By file: the processor time of each rule in the latest checks.
        self._costs: dict[Path, dict[str, float]] = {}
        #: By file: its tensors when it was last valid Python, its content then, and what they rest on.
        self._tensors: dict[Path, tuple[tuple[TensorExpression, ...], bytes, Dependencies]] = {}
        #: A configuration that is being typed, its text without the word at the cursor, and the project with that.
        self._beside: tuple[Path, bytes, Project] | None = None
        #: Called when the findings of rules that need little time are known, and the others follow.
        self.on_first_answer: Callable[[], object] | None = None

    @property
    def is_outdated(self) -> bool:
        """True if an open file has to be checked."""
        return bool(self._outdated)

    def is_checked(self, path: Path) -> bool:
        """True if the findings of an open file are about its present text."""
        return path in self._results and path not in self._outdated and path not in self._aside

    def is_aside(self, path: Path) -> bool:
        """True if a file waits to be checked in another process."""
        return path in self._aside

    def open(self, path: Path, data: bytes) -> None:
        """Open or edit a file: `data` replaces its content on disk."""
        if self._beside is not None and self._beside[0] != path:
            self._beside = None
        self._open.add(path)
        self._aside.pop(path, None)
        self._outdated = {path: None} | self._outdated
        self._mark_outdated(self._analyser.update(path, data))

    def close(self, path: Path) -> None:
        """Close a file: its content on disk counts again, and its own findings are dropped."""
        self._beside = None
        self._open.discard(path)
        for known in (
            self._outdated,
            self._aside,
            self._results,
            self._good,
            self._known,
            self._costs,
            self._tensors,
        ):
            known.pop(path, None)
        self._mark_outdated(self._analyser.update(path, None))

    def touch(self, path: Path) -> None:
        """Handle a change on disk of a file that is not open, or of a folder."""
        self._beside = None
        for changed in (path, *self._below(path)):
            if changed not in self._open:
                self._mark_outdated(self._analyser.update(changed, None))

    def _below(self, folder: Path) -> set[Path]:
        """Dependencies of results that are, or could be, in a folder; none if the path is named like a source file."""
        if kind_of(folder.name) is not None:
            return set()
        start = f"{folder.as_posix()}/"
        keys = {key for result in self._results.values() for key, _ in result.dependencies}
        names = {key.partition(":")[2] for key in keys if not key.startswith(MENTIONS)}
        return {Path(name) for name in names if name.startswith(start)}

    def check(self) -> None:
        """Check the file that changed last, or the next one that depends on it; a large one is put aside.

        One that is superseded meanwhile is checked after those that changed since.
        """
        path = next(iter(self._outdated))
        del self._outdated[path]
        data = self._analyser.files.read(path) or b""
        if len(data) > LARGE:
            self._aside[path] = time.monotonic()
            return
        try:
            self._keep(path, self._result_of(path, data))
        except SupersededError:
            self._outdated[path] = None
        except Exception:
            self._results.pop(path, None)
            raise

    def supersede(self) -> None:
        """Give up the present check, as there is a change; may be called from another thread."""
        self._analyser.supersede()

    def _result_of(self, path: Path, data: bytes) -> FileResult:
        """The result of a file: checked now, or moved from an earlier one if only the layout differs."""
        layout = Layout.of(path, data) if kind_of(path.name) == PYTHON and self.rules.are_built_in else None
        if layout is None:
            return self._analyser.analyse(path, self._haste(path))
        known = self._known.setdefault(path, deque(maxlen=_LATEST))
        moved = (relaid(result, before, layout) for before, result in known)
        renewed = (self._analyser.renewed(result, path, data) for result in moved if result is not None)
        result = next(filter(None, renewed), None)
        if result is None:
            result = self._analyser.analyse(path, self._haste(path))
            self._note_costs(path, result)
            module = self.ask(lambda project: project.python(path)) if result.readable else None
            layout.asked = frozenset(() if module is None else module.asked)
        if result.readable:
            known.appendleft((layout, result))
        return result

    @property
    def waits(self) -> bool:
        """True if a file waits to be checked in another process."""
        return bool(self._aside)

    def aside(self, seconds: float = 0.0) -> Task | None:
        """The next file to check in another process, if unchanged for some `seconds`; its result goes to `take`."""
        latest = time.monotonic() - seconds
        path = next((path for path, since in self._aside.items() if since <= latest), None)
        return None if path is None else Task(self.settings, self._analyser.files.overlay, path)

    def take(self, path: Path, result: FileResult | None) -> None:
        """Take the result of a file checked in another process; None if that failed."""
        if path not in self._aside:
            return
        del self._aside[path]
        if result is None:
            self._results.pop(path, None)
        elif not all(self._analyser.files.holds(key, value) for key, value in result.dependencies):
            self._outdated[path] = None
        else:
            self._keep(path, result)

    def _note_costs(self, path: Path, result: FileResult) -> None:
        """Note the cost of each rule; what several rules ask is paid by the first, so an earlier cost counts, too."""
        before = self._costs.get(path, {})
        self._costs[path] = {code: max(spent, _FADING * before.get(code, 0.0)) for code, spent in result.seconds}

    def _haste(self, path: Path) -> Haste | None:
        """A first answer goes out as soon as the rules that cost least have run."""
        tell = self.on_first_answer
        if tell is None:
            return None

        def answer(result: FileResult) -> None:
            """Show a first answer, with what the waiting rules found last, where its code is still there."""
            findings, texts = self._good.get(path, ((), {}))
            typed = Typed(texts, self._analyser.files.read)
            before = (typed.finding(one) for one in findings if one.code in result.waiting)
            known = self._results.get(path)
            self._results[path] = replace(
                result,
                findings=(*result.findings, *filter(None, before)),
                crashes=() if known is None else known.crashes,  # which are no news
            )
            tell()

        return Haste(answer, self._costs.get(path, {}), self.patience)

    def _keep(self, path: Path, result: FileResult) -> None:
        read = self._analyser.files.read
        if result.readable:
            paths = {place.path for finding in result.findings for place in finding.places}
            texts = {path: data for path in paths if (data := read(Path(path))) is not None}
            self._good[path] = result.findings, texts
        elif path in self._good:
            # While a line is being typed the file is not valid Python: earlier findings still help where their code is
            # unchanged. In a notebook the other cells are checked.
            findings, texts = self._good[path]
            known = {(finding.code, finding.symbol, finding.message) for finding in result.findings}
            typed = Typed(texts, read)
            before = (typed.finding(one) for one in findings if (one.code, one.symbol, one.message) not in known)
            result = replace(result, findings=(*result.findings, *filter(None, before)))
        self._results[path] = result

    def tidy(self) -> None:
        """Drop data that no open file depends on any more, say since an import has changed.

        While a file is half typed, nobody knows what it will rest on.
        """
        self._beside = None
        if all(result.readable for result in self._results.values()):
            self._analyser.keep(self._results.values())

    def findings(self) -> list[Finding]:
        """The findings to show, in open files and in files that they are linked with."""
        results = {path.as_posix(): result for path, result in self._results.items()}
        found = settled(results, self.settings, self.rules, self._analyser.files)
        failed = [crash for result in self._results.values() for crash in result.crashes]
        self._failures = dict.fromkeys((*failed, *found.crashes))
        return [finding for finding in found.findings if finding.confidence >= self.settings.min_confidence]

    def news(self) -> list[Crash | Oversized]:
        """Failures of the last call of `findings`, and files too large to be checked; each until it is over."""
        oversized = [file for result in self._results.values() if (file := result.oversized) is not None]
        items: list[Crash | Oversized] = [*self._failures, *oversized]
        now = {_about(item): item for item in items}
        told, self._told = self._told, set(now)
        return [item for about, item in now.items() if about not in told]

    def contents(self) -> Files:
        """The contents of files, with open ones as they are in the editor."""
        return self._analyser.files

    def ask(self, question: Callable[[Project], T]) -> T:
        """The linked project's answer to a question."""
        return self._analyser.ask(question)

    def beside(self, path: Path, data: bytes) -> Project:
        """The project in which a YAML file has another text, such as a valid one while it is being typed.

        It is kept until another file changes.
        """
        known = self._beside
        if known is None or known[0] != path:
            project = self.ask(lambda project: project.beside({path: data}))
        else:
            project = known[2]
            if known[1] != data:
                project.files.update(path, data)
                project.forget({f"file:{path.as_posix()}"})
        self._beside = path, data, project
        return project

    def tensors(self, path: Path) -> tuple[TensorExpression, ...]:
        """The tensors in the code of an open file that is checked, in order; none in a large file.

        While a line is being typed the earlier ones are shown, where their code is unchanged. Raises SupersededError.
        """
        read = self._analyser.files.read
        data = read(path)
        if data is None or len(data) > LARGE or kind_of(path.name) in (None, YAML):
            return ()
        known = self._tensors.get(path)
        if known is not None and all(self._analyser.files.holds(key, value) for key, value in known[2]):
            return known[0]

        def find(project: Project) -> tuple[TensorExpression, ...] | None:
            module = project.whole(path)
            return None if module is None else tuple(tensors_in(module, project))

        found, dependencies = self._analyser.ask_in_time(find)
        if found is not None:
            self._tensors[path] = found, data, dependencies
            return found
        if known is None:
            return ()
        typed = Typed({path.as_posix(): known[1]}, read)
        return tuple(one for one in (_move_tensor(one, path, typed) for one in known[0]) if one is not None)

    def _mark_outdated(self, keys: set[str]) -> None:
        """Check again the files that depend on any of `keys`, after those that already wait."""
        for path, result in self._results.items():
            if result.rests_on(keys):
                self._outdated.setdefault(path)


def _move_tensor(one: TensorExpression, path: Path, typed: Typed) -> TensorExpression | None:
    """A tensor at its code's present place; None if the code is gone."""
    whole = one.annotated or one.span
    place = typed.place(Place(path.as_posix(), whole))
    if place is None:
        return None
    lines = place.span.line - whole.line
    span = replace(one.span, line=one.span.line + lines, end_line=one.span.end_line + lines)
    return one._replace(span=span, annotated=one.annotated and place.span)


def _about(item: Crash | Oversized) -> tuple[str, str]:
    """A key of an item of news; that of a file does not depend on its size, which changes with each key press."""
    return item.path, f"{item.part}: {item.error}" if isinstance(item, Crash) else ""
