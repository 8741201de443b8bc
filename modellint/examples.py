"""Runs a rule's examples, which are its tests: bad ones are flagged where they say so, good ones nowhere."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config import settings_for
from modellint.fix.fixer import Fixer
from modellint.linter import run
from modellint.packs import RuleSet
from modellint.pipeline.reveals import RevealError, claims_in, objections
from modellint.reading.discovery import discover
from modellint.reading.paths import shown
from modellint.rule import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from modellint.finding import Finding
    from modellint.results.report import Report
    from modellint.rule import Example, Rule


def materialise(files: Mapping[str, str], folder: Path) -> None:
    """Write the files of an example into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


@dataclass(frozen=True)
class Trial:
    """A rule, one of its examples, the `folder` with the example's files, and all `rules` to run."""

    rule: type[Rule]
    example: Example
    folder: Path
    rules: Mapping[str, Rule]

    def findings(self, paths: Iterable[Path] = ()) -> tuple[Finding, ...]:
        """The findings of all rules, at medium confidence or above. Raises TrialError if a rule fails."""
        return self._run(RuleSet(self.rules, frozenset(self.rules)), paths).findings

    def flagged_places(self, paths: Iterable[Path] = ()) -> set[tuple[str, int]]:
        """The (path, line) pairs that the rule itself flags."""
        return {
            (Path(finding.path).relative_to(self.folder).as_posix(), finding.span.line)
            for finding in self.findings(paths)
            if finding.code == self.rule.code
        }

    def display_path(self, name: str) -> str:
        """The path of a file of the example for messages; its name alone if the example is not on disk."""
        return name if self.example.folder is None else shown(self.example.folder / name)

    def fix(self) -> Fixer:
        """Make all fixes of the rule."""
        rules = RuleSet(self.rules, frozenset({self.rule.code}))
        fixer = Fixer(settings_for([self.folder], isolated=True), rules, unsafe=True)
        self._run(rules, (), fixer)
        return fixer

    def _run(self, rules: RuleSet, paths: Iterable[Path], fixer: Fixer | None = None) -> Report:
        settings = settings_for([self.folder], isolated=True).with_options(jobs=1)
        files = discover(list(paths) or [self.folder], settings)[0]
        report = run(files, settings, rules, use_cache=False, fix=fixer)
        for crash in report.crashes:
            name = Path(crash.path).name
            raise TrialError(f"{name}: {crash.part} fails: {crash.error}\n{crash.traceback.rstrip()}")
        return report


class TrialError(Exception):
    """A rule fails on an example; the message says where and how."""


def bad_is_found(trial: Trial) -> Iterator[str]:
    """A bad example is flagged where it says, and nowhere else."""
    expected = trial.example.expected(trial.rule.code)
    if not expected:
        yield f"no line is marked; expected `# expect: {trial.rule.code}` on each line that is to be flagged"
    yield from _differences(trial, expected)


def good_is_left_alone(trial: Trial) -> Iterator[str]:
    """A good example marks no line, and no line is flagged."""
    for name, line in sorted(trial.example.expected(trial.rule.code)):
        yield f"{trial.display_path(name)}:{line}: a good example marks nothing"
    yield from _differences(trial, set())


def each_file_alone_shows_its_own(trial: Trial) -> Iterator[str]:
    """Each marked line is found when its file is checked alone, as by a commit hook, with the others to link."""
    for name, line in sorted(trial.example.expected(trial.rule.code)):
        if (name, line) not in trial.flagged_places([trial.folder / name]):
            yield f"{trial.display_path(name)}:{line}: not found when {name} is checked alone"


def fix_gives_what_it_says(trial: Trial) -> Iterator[str]:
    """A fix makes of a bad example what `fixed` says, brings up nothing else, and leaves nothing to fix."""
    before = trial.findings()
    for failure in trial.fix().failures:
        yield f"the fix is refused: {failure.reason}"
    for name, text in {**trial.example.files, **(trial.example.fixed or {})}.items():
        made = (trial.folder / name).read_bytes().decode("utf-8", "surrogateescape")
        if made != text:
            yield f"{trial.display_path(name)}: `fixed` says\n{_indented(text)}\n  and the fix makes\n{_indented(made)}"
    after = trial.findings()
    if any(finding.code == trial.rule.code and finding.fix is not None for finding in after):
        yield "something is left to fix"
    for finding in (Counter(map(_subject, after)) - Counter(map(_subject, before))).elements():
        yield f"the fix brings up {finding[0]} on `{finding[2]}`"
    if trial.fix().rewrites:
        yield "a second run fixes something again"


def reveals_hold(trial: Trial) -> Iterator[str]:
    """The engine believes of values what `# reveal: NAME → WORDS` says on their line."""
    rules, settings = RuleSet(trial.rules, frozenset(trial.rules)), settings_for([trial.folder], isolated=True)
    for name, text in trial.example.files.items():
        claims = claims_in(lines_of(name, text)) if "reveal:" in text else {}
        try:
            yield from objections(trial.folder / name, claims, settings, rules, trial.display_path(name))
        except RevealError as error:
            yield str(error)


BAD_CHECKS = (bad_is_found, each_file_alone_shows_its_own, fix_gives_what_it_says, reveals_hold)
GOOD_CHECKS = (good_is_left_alone, reveals_hold)


def problems(
    check: Callable[[Trial], Iterator[str]], rule: type[Rule], example: Example, rules: Mapping[str, Rule], folder: Path
) -> list[str]:
    """The objections of a check to an example, whose files are written to `folder`."""
    materialise(example.files, folder)
    try:
        return list(check(Trial(rule, example, folder, rules)))
    except TrialError as error:
        return [str(error)]


@dataclass
class Result:
    """The result of running a rule's examples: problems, each with the title of its example."""

    rule: type[Rule]
    problems: list[str] = field(default_factory=list)

    @property
    def examples(self) -> int:
        return len(self.rule.bad) + len(self.rule.good)


def examine(rule: type[Rule], rules: Mapping[str, Rule]) -> Result:
    """Run all examples of a rule among `rules`, in temporary folders."""
    result = Result(rule)
    for kind, examples, checks in (("bad", rule.bad, BAD_CHECKS), ("good", rule.good, GOOD_CHECKS)):
        if not examples:
            result.problems.append(f"no {kind} example; expected at least one in `{kind}`")
        for example in examples:
            for check in checks:
                with tempfile.TemporaryDirectory(prefix="modellint-") as folder:
                    found = problems(check, rule, example, rules, Path(folder).resolve())
                result.problems += [f"{kind} example {example.title!r}: {problem}" for problem in found]
    return result


def _differences(trial: Trial, expected: set[tuple[str, int]]) -> Iterator[str]:
    found = trial.flagged_places()
    for name, line in sorted(expected - found):
        yield f"{trial.display_path(name)}:{line}: marked, but not found"
    for name, line in sorted(found - expected):
        yield f"{trial.display_path(name)}:{line}: found, but not marked"


def _subject(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.path, finding.symbol


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
