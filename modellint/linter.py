"""The pipeline: files → results → findings that are worth showing."""

from __future__ import annotations

import gc
import os
import time
import warnings
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config import Settings, settings_for
from modellint.config.errors import UsageError, nearest
from modellint.finding import Confidence, Finding, Judged, Severity, verified, with_fingerprints
from modellint.graph.immutable import dataclass
from modellint.packs import ALL, best_match, fit, fits, select_rules
from modellint.pipeline.analyser import FileResult, suppressions_of
from modellint.pipeline.workers import analyse_all
from modellint.reading.discovery import discover, glob_matcher, is_left_out
from modellint.reading.files import Files
from modellint.reading.sizes import parse_size
from modellint.results.failures import Crash, noted
from modellint.results.report import Inventory, Part, Report
from modellint.results.suppressions import stale, suppress
from modellint.rule import Rule
from modellint.source import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from modellint.packs import RuleSet
    from modellint.pipeline.changed import Changes
    from modellint.reading.index import Indexes
    from modellint.results.baseline import Baseline
    from modellint.results.suppressions import Suppression


class InternalError(Exception):
    """A rule or a frontend failed; the findings of the others are not returned."""


@dataclass(frozen=True)
class Outcome:
    """The state after fixing: results, the findings to show, and the findings that were fixed."""

    results: Mapping[str, FileResult]
    findings: tuple[Finding, ...]
    fixed: tuple[Finding, ...]
    crashes: tuple[Crash, ...] = ()


@dataclass(frozen=True)
class Sharding:
    """All files of a run that is shared by machines, and the function that makes the part of this one.

    `part` takes the results, the judged findings, and the crashes that are in no result.
    """

    files: frozenset[str]
    part: Callable[[Mapping[str, FileResult], Judged, Sequence[Crash]], Part]


@dataclass(frozen=True)
class Settled:
    """The findings to show, in order, and the crashes of rules while they were best_match."""

    findings: list[Finding]
    crashes: tuple[Crash, ...] = ()


def check(
    paths: Iterable[str | Path], *, config: str | Path | None, isolated: bool, cache: bool, **options: Any
) -> list[Finding]:
    """The findings in `paths`; see `modellint.check`."""
    from modellint.reporters import View

    roots = [Path(path) for path in paths]
    settings = settings_for(roots, Path(config) if config else None, isolated=isolated)
    settings = settings.with_options(**{"jobs": 1, **_convert_options(options)})
    files, _ = discover(roots, settings)
    report = run(files, settings, select_rules(settings), use_cache=cache)
    if report.crashes:
        raise InternalError(str(report.crashes[0]))
    for file in report.skipped:
        warnings.warn(f"{file.path} is skipped: {file.reason}", stacklevel=3)
    return list(View(Path.cwd(), Files()).located(report).findings)


def _convert_options(options: dict[str, Any]) -> dict[str, Any]:
    """Convert options of callers, with lists and plain strings, to the types of the settings."""
    names = {field.name for field in fields(Settings)} - {"root", "source", "extend", "origins"}
    for key in options:
        if key not in names:
            raise UsageError(f"no setting is called `{key}`{nearest(key, names, '')}")
    kinds: dict[str, Callable[[Any], Any]] = {
        "min_confidence": Confidence,
        "fail_on": Severity,
        "python": Path,
        "cache_dir": Path,
        "index_dir": Path,
        "max_file_size": parse_size,
    }
    try:
        return {
            key: tuple(value) if isinstance(value, list) else kinds[key](value) if key in kinds else value
            for key, value in options.items()
        }
    except (ValueError, TypeError) as error:
        raise UsageError(f"a setting is not understood: {error}") from None


def run(
    paths: Sequence[Path],
    settings: Settings,
    rules: RuleSet,
    *,
    overlay: Mapping[Path, bytes] | None = None,
    use_cache: bool = True,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    confirm: Callable[[Sequence[Finding]], Judged] | None = None,
    changes: Changes | None = None,
    baseline: Baseline | None = None,
    fix: Callable[[Mapping[str, FileResult], Sequence[Finding], Sequence[Finding]], Outcome] | None = None,
    sharding: Sharding | None = None,
) -> Report:
    """Check the files `paths`; `overlay` gives contents that are not on disk.

    `confirm` gives findings their verdicts; it sees those of low confidence too, which a confirmation lifts.
    Only the files that `changes` concern count, and findings that `baseline` holds are left out. `fix` is given the
    results, all findings and those to show, and makes fixes. `sharding` is set if other machines check the rest.
    """
    started = time.perf_counter()
    files = Files(overlay, limit=settings.max_file_size)
    record = changes is not None or fix is not None
    with undisturbed():
        results = {}
        for done, result in enumerate(_results(paths, settings, rules, overlay, use_cache, record), 1):
            if changes is None or changes.concern(result):
                results[result.path] = result
            on_progress(done, len(paths))
    report = conclude(results, settings, rules, files, confirm, baseline, fix, sharding)
    is_idle = changes is not None and paths and not results
    revision = changes.revision if changes is not None and is_idle else ""
    return replace(report, duration=time.perf_counter() - started, unchanged_since=revision)


def conclude(
    results: Mapping[str, FileResult],
    settings: Settings,
    rules: RuleSet,
    files: Files,
    confirm: Callable[[Sequence[Finding]], Judged] | None = None,
    baseline: Baseline | None = None,
    fix: Callable[[Mapping[str, FileResult], Sequence[Finding], Sequence[Finding]], Outcome] | None = None,
    sharding: Sharding | None = None,
) -> Report:
    """The report of a run, but for its duration, from the results of its files."""
    with undisturbed():
        found = settled(results, settings, rules, files, None if sharding is None else sharding.files)
    findings = found.findings
    checked = frozenset(path for path, result in results.items() if not result.crashes and result.oversized is None)
    known = None if baseline is None else baseline.compare(findings, checked, rules.selected)
    new = findings if known is None else known.new
    judged = Judged(tuple(new)) if confirm is None else confirm(new)
    shown, refuted = (
        tuple(finding for finding in some if finding.confidence >= settings.min_confidence)
        for some in (judged.findings, judged.refuted)
    )
    outcome = Outcome(results, shown, ()) if fix is None else fix(results, findings, shown)
    results = dict(outcome.results)
    others = [*judged.crashes, *outcome.crashes]
    failed = [crash for result in results.values() for crash in result.crashes]
    failed += [*found.crashes, *others]
    # One for all findings of a file that a rule cannot probe or fix for the same reason.
    unique = {(crash.path, crash.part, crash.error): crash for crash in failed}
    crashes = [unique[key] for key in sorted(unique)]
    unfinished = sorted((path, result.unfinished) for path, result in results.items() if result.unfinished)
    seconds: dict[str, float] = {}
    for part, spent in (row for result in results.values() for row in result.seconds):
        seconds[part] = seconds.get(part, 0.0) + spent
    return Report(
        outcome.findings,
        sum(result.oversized is None for result in results.values()),
        tuple(crashes),
        0.0,
        tuple(unfinished),
        checked,
        known,
        outcome.fixed,
        len(refuted),
        judged.guard,
        tuple(file for _, result in sorted(results.items()) if (file := result.oversized) is not None),
        tuple(sorted(seconds.items(), key=lambda row: -row[1])),
        reduce(Inventory.plus, (result.inventory for result in results.values()), Inventory()),
        tuple((path, result.paired) for path, result in sorted(results.items()) if result.paired is not None),
        part=None if sharding is None else sharding.part(results, judged, others),
    )


@contextmanager
def undisturbed() -> Iterator[None]:
    """Context without garbage collection (a fifth of the time of parsing) and without warnings about linted code."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if was_enabled:
            gc.enable()


def _results(
    paths: Sequence[Path],
    settings: Settings,
    rules: RuleSet,
    overlay: Mapping[Path, bytes] | None,
    use_cache: bool,
    record: bool,
) -> Iterator[FileResult]:
    """The result of each file; with its dependencies if `record` is set or a cache is used."""
    if not use_cache or overlay:
        yield from _analyse_files(paths, rules, settings, overlay, record=record)
        return
    from modellint.pipeline.cache import Cache, cache_key, indexes_in, prepare

    prepare(settings.cache_folder)
    key = cache_key(settings, rules)
    cache = Cache(settings.cache_folder, key, settings.max_file_size, with_dependencies=record)
    missing = []
    for path in paths:
        known = cache.get(path)
        if known is None:
            missing.append(path)
        else:
            yield known
    if missing:
        for result in _analyse_files(missing, rules, settings, overlay, record=True, indexes=indexes_in(settings)):
            cache.put(result)
            yield result
    cache.save()


def _analyse_files(
    paths: Sequence[Path],
    rules: RuleSet,
    settings: Settings,
    overlay: Mapping[Path, bytes] | None,
    *,
    record: bool,
    indexes: Indexes | None = None,
) -> Iterator[FileResult]:
    """The results of a fresh analysis, which share equal dependencies in memory."""
    known: dict[tuple[str, str], tuple[str, str]] = {}
    for result in analyse_all(paths, rules, settings, overlay, record=record, indexes=indexes):
        yield result.sharing(known)


def settled(
    results: Mapping[str, FileResult],
    settings: Settings,
    rules: RuleSet,
    files: Files,
    roots: Collection[str] | None = None,
) -> Settled:
    """The findings to show: merged, in scope and not suppressed, along with those about stale suppressions.

    `roots` are the files of the run, if the results are those of a part of them.
    """
    comments: dict[str, Sequence[Suppression]] = {path: result.suppressions for path, result in results.items()}

    def comments_in(path: str) -> Sequence[Suppression]:
        if path not in comments:
            data = files.read(Path(path)) if kind_of(path) is not None else None
            comments[path] = suppressions_of(Path(path), data, rules.codes)
        return comments[path]

    scope = Scope(settings, results if roots is None else roots)
    every = (finding for path in sorted(results) for finding in results[path].findings)
    wanted = [finding for finding in _merge(every) if scope.covers(finding)]
    kept, used = suppress(wanted, comments_in)
    kept = wanted if settings.show_ignored else kept
    unused: list[Finding] = []
    crashes: list[Crash] = []
    for path, result in results.items():
        if result.suppressions and result.readable and not result.crashes and not result.waiting:
            active = [code for code in rules.selected if not scope.ignores(path, code)]
            unused.extend(_stale_findings(path, result.suppressions, used.get(path, set()), active, rules, crashes))
    silent = {path: [comment for comment in found if comment.codes] for path, found in comments.items()}
    kept += suppress((finding for finding in unused if scope.covers(finding)), silent.__getitem__)[0]
    if settings.severity or settings.fixable != (ALL,) or settings.extend_fixable or settings.unfixable:
        kept = [_as_set(finding, settings) for finding in kept]
    return Settled(with_fingerprints(kept, settings.root.as_posix()), tuple(crashes))


def _as_set(finding: Finding, settings: Settings) -> Finding:
    """A finding with the severity that the settings give its rule, and without its fix if they rule that out."""
    severity = best_match(finding.code, settings.severity)
    fix = finding.fix
    if fit(finding.code, settings.fixable + settings.extend_fixable) <= fit(finding.code, settings.unfixable):
        fix = None
    return replace(finding, severity=severity or finding.severity, fix=fix)


def _stale_findings(
    path: str,
    suppressions: Sequence[Suppression],
    used: set[tuple[Suppression, str]],
    active: Sequence[str],
    rules: RuleSet,
    crashes: list[Crash],
) -> Iterator[Finding]:
    judges = [rule for rule in rules.active if type(rule).check_suppressions is not Rule.check_suppressions]
    if judges:
        judged = set(active) - {rule.code for rule in judges}
        found = stale(suppressions, used, known=rules.rules, active=judged)
        for rule in judges:
            with noted(crashes, rule.code, path):
                yield from [verified(finding) for finding in rule.check_suppressions(path, found)]


class Scope:
    """Decides by file and code which findings the settings show."""

    def __init__(self, settings: Settings, roots: Collection[str]) -> None:
        self._roots = roots
        self._root = settings.root
        self._is_excluded = glob_matcher(settings.exclude + settings.extend_exclude, settings.root)
        self._ignores = [
            (glob_matcher([pattern], settings.root), codes)
            for pattern, codes in settings.per_file_ignores + settings.extend_per_file_ignores
        ]

    def covers(self, finding: Finding) -> bool:
        return self.has(finding.path) and not self.ignores(finding.path, finding.code)

    def ignores(self, path: str, code: str) -> bool:
        return any(fits(code, codes) and matches(path) for matches, codes in self._ignores)

    def has(self, path: str) -> bool:
        """True if a file belongs to the project: it is a root, or lies below the project's root and isn't excluded."""
        if path in self._roots:
            return True
        file = Path(os.path.normpath(path))
        return file.is_relative_to(self._root) and not is_left_out(file, self._root, self._is_excluded)


def _merge(findings: Iterable[Finding]) -> list[Finding]:
    """Merge findings of the same code, place and symbol, which several files may report."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.code, finding.place, finding.symbol), []).append(finding)
    return [_union(group) for group in groups.values()]


def _union(group: list[Finding]) -> Finding:
    if len(group) == 1:
        return group[0]
    group.sort(key=lambda finding: (-list(Confidence).index(finding.confidence), finding.message, finding.evidence))
    related = {related for finding in group for related in finding.related}
    evidence = dict.fromkeys(fact for finding in group for fact in finding.evidence)
    return replace(
        group[0],
        evidence=tuple(evidence),
        claim=next((finding.claim for finding in group if finding.claim is not None), None),
        related=tuple(sorted(related, key=lambda other: (other.place, other.message))),
    )
