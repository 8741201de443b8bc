"""Parts of a run that several machines share: what each adds to its report, and the report that they make together.

A finding can rest on files of several parts: a comment in one file silences what is found from another, and a recipe
and a script report the same mistake. A part therefore holds the results of its files before any of that is decided,
and merging decides it as a run does.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.config import Settings
from modellint.config.errors import UsageError
from modellint.finding import Confidence, Judged, Sandbox, Severity
from modellint.linter import Sharding, conclude
from modellint.packs import RuleSet
from modellint.pipeline.analyser import FileResult, suppressions_of
from modellint.pipeline.shards import parse_shard
from modellint.reading.digest import digest
from modellint.reading.files import Files
from modellint.reading.paths import shown
from modellint.reporters import View
from modellint.reporters.json import crash_json, finding_json, guard_json, skipped_json
from modellint.results.merging import absolute, read_crash, read_finding, read_oversized, refusing
from modellint.results.report import Inventory, Part
from modellint.results.suppressions import Suppression
from modellint.source import Span
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from modellint.finding import Finding
    from modellint.results.baseline import Baseline
    from modellint.results.failures import Crash
    from modellint.results.report import Report
    from modellint.rule import Rule

#: The settings that decide which findings there are, and which of them are shown.
_SETTINGS = (
    "root",
    "per_file_ignores",
    "extend_per_file_ignores",
    "severity",
    "fixable",
    "extend_fixable",
    "unfixable",
    "exclude",
    "extend_exclude",
    "min_confidence",
    "fail_on",
    "baseline",
    "show_ignored",
    "recipes",
    "max_file_size",
)
#: The options that decide which files count, and which verdicts are shown.
_OPTIONS = ("changed_since", "confirm", "show_refuted", "confirmed_only")
_EXPECTED = "expected what `--shard` writes"


# -- writing -----------------------------------------------------------------------------------------------------------


def sharding_of(
    wanted: str, files: Sequence[Path], settings: Settings, rules: RuleSet, flags: Mapping[str, Any]
) -> Sharding:
    """The sharding of a run over all `files`; `flags` are the options of the command line."""
    names = frozenset(file.as_posix() for file in files)
    listed = sorted(shown(name, settings.root) for name in names)
    head = {
        "version": __version__,
        "files": digest("\0".join(listed).encode("utf-8", "surrogatepass")),
        "settings": {name: _encode(getattr(settings, name)) for name in _SETTINGS},
        "rules": sorted(rules.selected),
        "known_rules": sorted(rules.rules),
        "options": {name: flags[name] for name in _OPTIONS},
    }
    number, count = parse_shard(wanted)
    return Sharding(names, partial(_part, f"{number}/{count}", head, names, settings, rules))


def _part(
    shard: str,
    head: dict[str, Any],
    names: frozenset[str],
    settings: Settings,
    rules: RuleSet,
    results: Mapping[str, FileResult],
    judged: Judged,
    crashes: Sequence[Crash],
) -> Part:
    view = View(Path.cwd(), Files(limit=settings.max_file_size))
    verdicts = {_key(finding): finding for finding in (*judged.findings, *judged.refuted)} if judged.guard else {}
    ignored = _Ignored(names, settings, rules)
    listed = []
    for path, result in sorted(results.items()):
        findings = [
            _finding_json(verdicts.get(_key(finding), finding), view, settings.root.as_posix())
            for finding in result.findings
            if not ignored.covers(finding)
        ]
        values = {
            "findings": findings,
            "suppressions": [_suppression_json(one) for one in result.suppressions],
            "unreadable": not result.readable,
            "errors": [crash_json(crash, view) for crash in result.crashes],
            "skipped": result.oversized and skipped_json(result.oversized, view),
            "inventory": result.inventory if any(result.inventory) else None,
        }
        listed.append({"path": view.path(path), **{key: value for key, value in values.items() if value}})
    data = {
        **head,
        "results": listed,
        "errors": [crash_json(crash, view) for crash in crashes],
        "guard": guard_json(judged.guard) if judged.guard else None,
    }
    return Part(shard, data)


class _Ignored:
    """The findings that a comment silences in a file that no part checks: merging may not have that file."""

    def __init__(self, names: frozenset[str], settings: Settings, rules: RuleSet) -> None:
        self._names = names
        self._shows = settings.show_ignored
        self._codes = rules.codes
        self._files = Files(limit=settings.max_file_size)

    def covers(self, finding: Finding) -> bool:
        if self._shows or finding.path in self._names:
            return False
        path = Path(finding.path)
        comments = suppressions_of(path, self._files.read(path), self._codes)
        return any(comment.covers(finding) for comment in comments)


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.code, finding.place, finding.symbol


def _finding_json(finding: Finding, view: View, root: str) -> dict[str, Any]:
    """A finding before places are shown by cell; its cause names files from the root, as all machines do."""
    item = finding_json(finding, view)
    return {**item, "fingerprint": "", "cause": finding.cause.replace(root, ".")}


def _suppression_json(one: Suppression) -> list[Any]:
    span = one.span
    numbers = [span.line, span.column, span.end_line, span.end_column]
    return [numbers, one.codes, one.whole_file, one.is_noqa, one.misplaced, one.within]


def _encode(value: Any) -> Any:
    if isinstance(value, Path):
        return shown(value)
    if isinstance(value, Enum):
        return value.value
    return [_encode(item) for item in value] if isinstance(value, tuple) else value


# -- reading -----------------------------------------------------------------------------------------------------------


class Parts:
    """The parts of one run, by the files that they come from. Raises UsageError unless they are all of one run."""

    def __init__(self, parts: Mapping[Path, Part], rules: Mapping[str, Rule]) -> None:
        self._first, first = next(iter(parts.items()))
        self._parts = parts
        _check_shards(parts)
        for file, part in parts.items():
            self._check(file, part, first)
        with refusing(self._first, "`shard_data`", _EXPECTED):
            self.settings = _settings(first.data["settings"])
            self.rules = RuleSet(rules, frozenset(map(str, first.data["rules"])))
            known = set(map(str, first.data["known_rules"]))
        if unknown := sorted(known - set(rules)):
            raise UsageError(
                f"{self._first}: no rule has the code {unknown[0]} here; expected the settings that the parts had"
            )

    def report(self, baseline: Baseline | None) -> Report:
        """The report of the whole run."""
        results: dict[str, FileResult] = {}
        crashes: list[Crash] = []
        guard: Sandbox | None = None
        options: dict[str, Any] = {}
        for file, part in self._parts.items():
            with refusing(file, "`shard_data`", _EXPECTED):
                for item in part.data["results"]:
                    result = _result(item)
                    results[result.path] = result
                crashes += map(read_crash, part.data["errors"])
                guard = guard or _guard(part.data["guard"])
                options = {name: part.data["options"][name] for name in _OPTIONS}

        def judge(findings: Sequence[Finding]) -> Judged:
            if guard is None:
                return Judged(tuple(findings), (), None, tuple(crashes))
            from modellint.confirm.confirmer import Wishes

            shows, confirmed_only = bool(options["show_refuted"]), bool(options["confirmed_only"])
            shown, refuted = Wishes(show_refuted=shows, confirmed_only=confirmed_only).divided(findings)
            return Judged(tuple(shown), tuple(refuted), guard, tuple(crashes))

        return conclude(results, self.settings, self.rules, Files(), judge, baseline)

    def _check(self, file: Path, part: Part, first: Part) -> None:
        for key in ("files", "settings", "options", "rules", "known_rules"):
            if part.data.get(key) != first.data.get(key):
                said = f"part {part.shard} of a run with other {key.removeprefix('known_')} than {self._first}"
                raise UsageError(f"{file}: {said}; expected parts of one run")


def part_in(document: dict[str, Any], file: Path) -> Part | None:
    """The part of a run that a report in JSON or SARIF is; None if it is a whole one. Raises UsageError."""
    shard, data = document.get("shard"), document.get("shard_data")
    if "runs" in document:
        bags = [run.get("properties") for run in document["runs"] if isinstance(run, dict)]
        bag = next((bag for bag in bags if isinstance(bag, dict) and "shard" in bag), {})
        shard, data = bag.get("shard"), bag.get("shardData")
    if shard is None:
        return None
    if not isinstance(shard, str) or not isinstance(data, dict):
        raise UsageError(f"{file}: `shard` is {shard!r}, and its data is missing; {_EXPECTED}")
    if data.get("version") != __version__:
        said = f"part {shard} of a run of modellint {data.get('version')}"
        raise UsageError(f"{file}: {said}; expected one of {__version__}, which is to merge it")
    return Part(shard, data)


def _check_shards(parts: Mapping[Path, Part]) -> None:
    """Raise UsageError unless there is each part once."""
    seen: dict[int, Path] = {}
    first = next(iter(parts))
    total = _shard(first, parts[first])[1]
    for file, part in parts.items():
        number, count = _shard(file, part)
        if count != total:
            raise UsageError(
                f"{file}: part {part.shard}, where {first} is part {parts[first].shard}; expected parts of one run"
            )
        if number in seen:
            raise UsageError(f"{file}: part {part.shard}, which {seen[number]} is, too; expected each part once")
        seen[number] = file
    missing = [f"{number}/{total}" for number in range(1, total + 1) if number not in seen]
    if missing:
        named = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        raise UsageError(f"the report of part {named} is missing; expected each part once")


def _shard(file: Path, part: Part) -> tuple[int, int]:
    try:
        return parse_shard(part.shard)
    except UsageError:
        raise UsageError(f"{file}: `shard` is `{part.shard}`; {_EXPECTED}") from None


def _settings(data: Mapping[str, Any]) -> Settings:
    values = {name: _decode(data[name]) for name in _SETTINGS}
    values["root"] = Path(absolute(values["root"]))
    values["baseline"] = None if values["baseline"] is None else Path(absolute(values["baseline"]))
    values["severity"] = tuple((str(code), Severity(severity)) for code, severity in values["severity"])
    values["min_confidence"] = Confidence(values["min_confidence"])
    values["fail_on"] = Severity(values["fail_on"])
    return Settings(**values)


def _decode(value: Any) -> Any:
    return tuple(map(_decode, value)) if isinstance(value, list) else value


def _result(item: dict[str, Any]) -> FileResult:
    skipped = item.get("skipped")
    return FileResult(
        absolute(item["path"]),
        tuple(replace(read_finding(one), cause=str(one["cause"])) for one in item.get("findings", ())),
        tuple(map(_suppression, item.get("suppressions", ()))),
        not item.get("unreadable"),
        tuple(map(read_crash, item.get("errors", ()))),
        oversized=None if skipped is None else read_oversized(skipped),
        inventory=Inventory(*map(int, item.get("inventory", ()))),
    )


def _suppression(item: list[Any]) -> Suppression:
    numbers, codes, whole_file, is_noqa, misplaced, within = item
    line, column, end_line, end_column = map(int, numbers)
    first, last = within or (0, 0)
    return Suppression(
        Span(line, column, end_line, end_column),
        tuple(map(str, codes)),
        bool(whole_file),
        bool(is_noqa),
        bool(misplaced),
        None if within is None else (int(first), int(last)),
    )


def _guard(item: Any) -> Sandbox | None:
    return None if item is None else Sandbox(str(item["name"]), tuple(map(str, item["parts"])))
