"""Apply fixes in passes over the findings; each batch is proved harmless by linting its result before writing."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.edits.changes import EditError, changes_of, conflict, edits_by_path
from modellint.finding import Applicability, Status
from modellint.fix.documents import decoded, edited
from modellint.fix.writing import Rewrite, WriteError, write_together
from modellint.linter import Outcome, Scope, settled, undisturbed
from modellint.pipeline.workers import analyse_all
from modellint.reading.files import Files, content_hash
from modellint.reading.mentioning import Changed
from modellint.reporters import View
from modellint.results.failures import RAISED, Crash
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from modellint.config import Settings
    from modellint.edits.changes import Change
    from modellint.finding import Edit, Finding, Fix
    from modellint.packs import RuleSet
    from modellint.pipeline.analyser import FileResult
    from modellint.source import SourceFile

#: Fixes that cannot be made side by side are made one after the other, in at most this many passes.
MAX_PASSES = 10
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Failure:
    """A fix that was not made, and why."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class _State:
    """The results of linting with `contents` in place of those on disk."""

    results: Mapping[str, FileResult]
    findings: tuple[Finding, ...]
    contents: Mapping[Path, bytes] = field(default_factory=dict)
    crashes: tuple[Crash, ...] = ()

    @property
    def counts(self) -> Counter[Key]:
        return Counter(map(_key, self.findings))

    @property
    def all_crashes(self) -> Iterator[Crash]:
        for result in self.results.values():
            yield from result.crashes
        yield from self.crashes


class Fixer:
    """Applies fixes, and records them.

    `unsafe` also makes those that need a look. `write` tells whether files are changed; otherwise the rewrites are
    only gathered. `only` is the one file that may change, if there is one. After so many `passes` it is enough.
    """

    def __init__(
        self,
        settings: Settings,
        rules: RuleSet,
        *,
        unsafe: bool = False,
        write: bool = True,
        only: Path | None = None,
        passes: int = MAX_PASSES,
        overlay: Mapping[Path, bytes] | None = None,
    ) -> None:
        self._settings = settings
        self._rules = rules
        self._unsafe = unsafe
        self._write = write
        self._only = only
        self._passes = passes
        self._overlay = dict(overlay or {})
        self._judges = {
            rule.code for rule in rules.active if type(rule).check_suppressions is not Rule.check_suppressions
        }
        self.rewrites: list[Rewrite] = []
        self.failures: list[Failure] = []
        self.write_errors: list[str] = []
        self.is_finished = True

    def __call__(
        self, results: Mapping[str, FileResult], found: Sequence[Finding], shown: Sequence[Finding]
    ) -> Outcome:
        """Fix the `shown` ones of the `found` findings; gives the findings that remain, and those fixed."""
        self._scope = Scope(self._settings, results)
        self._visible = _Visible(found, shown, self._settings)
        self._names = _names(results)
        start = _State(results, tuple(shown))
        state, fixed = self._converge(start, tolerant=True)
        if self._has_brought_up(start, state):
            # A fix brought up a finding that no other fix settles: use only fixes that bring up none.
            state, fixed = self._converge(start, tolerant=False)
        self.rewrites = [
            Rewrite(path, before, after)
            for path, after in sorted(state.contents.items())
            if (before := self._on_disk(path)) is not None and before != after and path in self._owned
        ]
        if self._write:
            state, fixed = self._write_all(state, fixed)
        return Outcome(state.results, state.findings, tuple(fixed), (*state.crashes, *self._crashes))

    def _on_disk(self, path: Path) -> bytes | None:
        return Files(self._overlay).read(path)

    def _content_in(self, path: Path, contents: Mapping[Path, bytes]) -> bytes | None:
        return contents[path] if path in contents else self._on_disk(path)

    # -- passes --------------------------------------------------------------------------------------------------------

    def _converge(self, state: _State, *, tolerant: bool) -> tuple[_State, list[Finding]]:
        """Fix until nothing is left to fix.

        If `tolerant`, a fix may bring up a finding that has a fix of its own.
        """
        self.failures, self._crashes, self._owned = [], list[Crash](), set[Path]()
        refused = self._refused = set[Key]()
        fixed: list[Finding] = []
        passes = 0
        while passes < self._passes:
            batch = self._batch(state, refused)
            if not batch:
                return state, fixed
            whole = len(batch)
            state, batch = self._apply_harmless(state, batch, refused, tolerant)
            fixed += [finding for item in batch for finding in item.findings]
            self._owned.update(path for item in batch for path in edits_by_path(item.fix.edits))
            passes += len(batch) == whole
        self.is_finished = not self._batch(state, refused)
        return state, fixed

    def _batch(self, state: _State, refused: set[Key]) -> list[_Item]:
        """Fixes that can be made side by side, in the order of their findings."""
        chosen: dict[tuple[Edit, ...], _Item] = {}
        texts = _Texts(partial(self._content, state))
        for finding in state.findings:
            fix = finding.fix
            if fix is None or _key(finding) in refused or not self._may_apply(fix):
                continue
            if fix.edits in chosen:
                chosen[fix.edits].findings.append(finding)
                continue
            try:
                if texts.take(fix.edits):
                    chosen[fix.edits] = _Item(fix, [finding])
            except RAISED as error:
                self._give_up(finding, error, refused)
        return list(chosen.values())

    def _may_apply(self, fix: Fix) -> bool:
        if fix.applicability is Applicability.UNSAFE and not self._unsafe:
            return False
        paths = {edit.place.path for edit in fix.edits}
        if self._only is not None:
            return paths == {self._only.as_posix()}
        return all(map(self._scope.has, paths))

    def _content(self, state: _State, path: Path) -> bytes:
        """The content of a file before this pass, which was linted. Raises EditError if it has changed on disk."""
        if path in state.contents:
            return state.contents[path]
        data = self._on_disk(path)
        if data is None:
            raise EditError(f"{path} cannot be read")
        linted = dict(state.results[path.as_posix()].dependencies) if path.as_posix() in state.results else {}
        if linted.get(f"file:{path.as_posix()}", content_hash(data)) != content_hash(data):
            raise EditError(f"{path} has changed while it was checked")
        return data

    def _apply_harmless(
        self, state: _State, batch: list[_Item], refused: set[Key], tolerant: bool
    ) -> tuple[_State, list[_Item]]:
        """The state after the first fixes of a batch, as many as are harmless; a first fix that is not is refused."""
        while True:
            failure: BaseException
            try:
                after = self._after(state, batch)
                reason = self._objection(state, after, batch, tolerant)
                if reason is None:
                    return after, batch
                failure = EditError(reason)
            except RAISED as error:
                failure = error
            if len(batch) == 1:
                for finding in batch[0].findings:
                    self._give_up(finding, failure, refused)
                return state, []
            batch = batch[: len(batch) // 2]

    def _give_up(self, finding: Finding, error: BaseException, refused: set[Key]) -> None:
        """Refuse a fix for which there is an EditError, or that fails when it is tried."""
        reason = str(error)
        if not isinstance(error, EditError):
            self._crashes.append(crash := Crash.of(finding.code, finding.path, error))
            reason = crash.error
        refused.add(_key(finding))
        self.failures.append(Failure(finding, reason))

    # -- linting what would be -----------------------------------------------------------------------------------------

    def _after(self, state: _State, batch: Sequence[_Item]) -> _State:
        contents = dict(state.contents)
        for path, mine in edits_by_path(edit for item in batch for edit in item.fix.edits).items():
            new = edited(path, self._content(state, path), mine)
            for name in self._names.get(os.path.realpath(path), {path}) | {path}:
                contents[name] = new
        return self._lint_with(state, contents)

    def _lint_with(self, state: _State, contents: Mapping[Path, bytes]) -> _State:
        """The state with other contents: every file whose result rests on a changed one is checked again."""
        changed = [p for p in {*contents, *state.contents} if contents.get(p) != state.contents.get(p)]
        keys = {f"file:{path.as_posix()}" for path in changed}
        held = {p: (self._content_in(p, state.contents) or b"", self._content_in(p, contents) or b"") for p in changed}
        texts = Changed(lambda: held)
        stale = [Path(path) for path, result in state.results.items() if result.rests_on(keys, texts)]
        overlay = {**self._overlay, **contents}
        results = dict(state.results)
        with undisturbed():
            for result in analyse_all(stale, self._rules, self._settings, overlay, record=True):
                results[result.path] = result
            found = settled(results, self._settings, self._rules, Files(overlay, limit=self._settings.max_file_size))
        return _State(results, tuple(self._visible(found.findings)), contents, found.crashes)

    def _objection(self, before: _State, after: _State, batch: Sequence[_Item], tolerant: bool) -> str | None:
        """The objection to a batch of fixes: it brings up findings, or does not settle its own; None if harmless."""
        known = {(crash.path, crash.part) for crash in before.all_crashes}
        new = [crash for crash in after.all_crashes if (crash.path, crash.part) not in known]
        if new:
            return f"modellint fails on the result: {new[0].error}"
        old, now = before.counts, after.counts
        expected = old - Counter(_key(finding) for item in batch for finding in item.findings)
        for finding in after.findings:
            key = _key(finding)
            if now[key] <= expected[key] or finding.code in self._judges:
                continue
            if key in old and now[key] <= old[key]:
                return "it does not settle the finding"
            if not (tolerant and self._is_fixable(finding)):
                place = View(Path.cwd(), Files({**self._overlay, **after.contents})).place(finding.place)
                where = (f"cell {place.cell} of " if place.cell else "") + Path(place.path).name
                return f"it would bring up {finding.code} at line {place.span.line} of {where}"
        return None

    def _has_brought_up(self, before: _State, after: _State) -> bool:
        """True if there are new findings that no further pass would fix."""
        more = after.counts - before.counts
        return any(
            key in more and finding.code not in self._judges and (key in self._refused or not self._is_fixable(finding))
            for finding in after.findings
            for key in (_key(finding),)
        )

    def _is_fixable(self, finding: Finding) -> bool:
        return finding.fix is not None and self._may_apply(finding.fix)

    # -- writing -------------------------------------------------------------------------------------------------------

    def _write_all(self, state: _State, fixed: list[Finding]) -> tuple[_State, list[Finding]]:
        """Write all files; gives the remaining state and fixes if some files cannot be written."""
        lost: set[Path] = set()
        for group in _groups(self.rewrites, fixed):
            if not self._is_written(group):
                lost.update(rewrite.path for rewrite in group)
        if not lost:
            return state, fixed
        self.rewrites = [rewrite for rewrite in self.rewrites if rewrite.path not in lost]
        gone = {name for path in lost for name in self._names.get(os.path.realpath(path), {path}) | {path}}
        contents = {path: data for path, data in state.contents.items() if path not in gone}
        return self._lint_with(state, contents), [finding for finding in fixed if lost.isdisjoint(_paths(finding))]

    def _is_written(self, group: Sequence[Rewrite]) -> bool:
        try:
            write_together(group)
        except WriteError as error:
            self.write_errors.append(str(error))
            return False
        return True


@dataclass(frozen=True, slots=True)
class _Item:
    """A fix, and the findings that it settles."""

    fix: Fix
    findings: list[Finding]


class _Texts:
    """The texts of files, and the edits accepted so far."""

    def __init__(self, content: Callable[[Path], bytes]) -> None:
        self._content = content
        self._sources: dict[Path, SourceFile] = {}
        self._changes: dict[Path, list[Change]] = {}
        self._names: dict[str, Path] = {}

    def take(self, edits: Iterable[Edit]) -> bool:
        """Accept all edits of a fix, or none: a fix that conflicts with an earlier one has to wait.

        Raises EditError for edits that do not fit the texts.
        """
        found: dict[Path, list[Change]] = {}
        for path, mine in edits_by_path(edits).items():
            if path not in self._sources:
                self._sources[path] = decoded(path, self._content(path))
            found[path] = changes_of(self._sources[path], mine)
        for path, changes in found.items():
            taken = self._changes.get(path, ())
            if self._names.setdefault(os.path.realpath(path), path) != path:
                return False
            if any(conflict(one, other) for one in changes for other in taken):
                return False
        for path, changes in found.items():
            self._changes.setdefault(path, []).extend(changes)
        return True


class _Visible:
    """Selects the findings of a later pass to show, by those shown of the first."""

    def __init__(self, found: Iterable[Finding], shown: Sequence[Finding], settings: Settings) -> None:
        self._least = settings.min_confidence
        self._judged = {_key(finding): finding for finding in shown if finding.verdict.status is not Status.NOT_RUN}
        kept = set(map(_key, shown))
        self._hidden = {_key(finding) for finding in found if finding.confidence >= self._least} - kept

    def __call__(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        for finding in findings:
            judged = self._judged.get(_key(finding))
            if judged is not None:
                yield replace(finding, verdict=judged.verdict, confidence=judged.confidence)
            elif finding.confidence >= self._least and _key(finding) not in self._hidden:
                yield finding


def _key(finding: Finding) -> Key:
    """The identity of a finding, wherever it is now."""
    return finding.code, finding.path, finding.symbol


def _paths(finding: Finding) -> set[Path]:
    return set(edits_by_path(finding.fix.edits)) if finding.fix is not None else set()


def _names(results: Iterable[str]) -> dict[str, set[Path]]:
    """By the file that it leads to, each path that was checked: links give a file several."""
    names: dict[str, set[Path]] = {}
    for path in results:
        names.setdefault(os.path.realpath(path), set()).add(Path(path))
    return names


def _groups(rewrites: Sequence[Rewrite], fixed: Iterable[Finding]) -> list[list[Rewrite]]:
    """The files to write, those that a fix changes together in one group."""
    groups: list[set[Path]] = [{rewrite.path} for rewrite in rewrites]
    for paths in map(_paths, fixed):
        joined = [group for group in groups if group & paths]
        if len(joined) > 1:
            groups = [group for group in groups if group not in joined]
            groups.append(set().union(*joined))
    return [[rewrite for rewrite in rewrites if rewrite.path in group] for group in groups]
