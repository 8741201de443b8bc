"""What modellint says of examples that are rewritten."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config import settings_for
from modellint.examples import TrialError
from modellint.linter import run, undisturbed
from modellint.packs import RuleSet, load_rules
from rewriting.marks import Files, Line, Unmarked, marked, unmarked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.config import Settings
    from modellint.rule import Example, Rule
    from rewriting.kept import Texts
    from rewriting.rewriting import Rewriting

#: Where the files are taken to lie, of which none is written.
_FOLDER = Path("/rewritten/project")
_SUFFIXES = (".py", ".yaml", ".yml")
#: Outcomes that only good examples have; all others are of bad ones.
OF_GOOD_ONES = ("false alarm", "crash on a good one")


@dataclass(frozen=True)
class Case:
    """An example of a rule: its `number`-th of the good or bad ones."""

    rule: type[Rule]
    kind: str
    number: int

    @property
    def example(self) -> Example:
        return getattr(self.rule, self.kind)[self.number]  # type: ignore[no-any-return]

    @property
    def marked(self) -> dict[str, str]:
        """Its files, with marks where it is to be found."""
        return _marked(self)

    @property
    def unmarked(self) -> Unmarked:
        """Its files, and where it is to be found."""
        return _unmarked(self)

    def __str__(self) -> str:
        return f"{self.rule.code} {self.kind} {self.number}"


def cases() -> Iterator[Case]:
    """All examples of the rules that read model definitions and recipes."""
    for rule in map(type, _rules().values()):
        if rule.code >= "ML1":
            for kind in ("bad", "good"):
                yield from (Case(rule, kind, number) for number in range(len(getattr(rule, kind))))


def outcome(case: Case, rewritten: Files) -> str:
    """What is wrong with what modellint says of an example that is rewritten; empty if nothing is.

    Otherwise `silent` (a mistake is not found again), `elsewhere` (nor is it, but the rule speaks of other lines),
    `too much` (all is found, and other lines are flagged), `false alarm` (of a good example), `crash` or `crash on a
    good one`.
    """
    result = unmarked(rewritten)
    try:
        found = findings(case.rule, result.files)
    except TrialError:
        return "crash" if case.kind == "bad" else "crash on a good one"
    if case.kind == "good":
        return "false alarm" if found else ""
    stray = found - set().union(*result.places.values())
    if not all(found & lines for lines in result.places.values()):
        return "elsewhere" if stray else "silent"
    return "too much" if stray else ""


def rewrite(case: Case, rewriting: Rewriting) -> dict[str, str] | None:
    """The files of an example after a rewriting, with marks where it is to be found; None if it does not apply."""
    return rewriting.rewrite(case.marked) if case.rule.code.startswith(rewriting.only) else None


def findings(rule: type[Rule], files: Files) -> set[Line]:
    """The places that a rule points to in files, at medium confidence or above. Raises TrialError if it fails."""
    overlay = {_FOLDER / path: text.encode("utf-8", "surrogateescape") for path, text in files.items()}
    paths = [path for path in overlay if path.suffix in _SUFFIXES]
    report = run(paths, _settings(), _alone(rule.code), overlay=overlay, use_cache=False)
    for crash in report.crashes:
        raise TrialError(crash.error)
    return {
        (Path(finding.path).relative_to(_FOLDER).as_posix(), finding.span.line)
        for finding in report.findings
        if finding.code == rule.code
    }


def tried(
    rewriting: Rewriting,
    among: Iterable[Case],
    check: Callable[[Case, Files], None] = lambda case, rewritten: None,
    texts: Texts | None = None,
) -> dict[str, str]:
    """What is wrong (or nothing) with each case to which a rewriting applies.

    `check` looks at what is rewritten, but for what `texts` has, as that was looked at when it was made.
    """
    outcomes = {}
    with undisturbed():
        for case in among:
            known = texts.of(case) if texts else None
            rewritten = known[0] if known else rewrite(case, rewriting)
            if rewritten is not None:
                if not known:
                    check(case, rewritten)
                outcomes[str(case)] = outcome(case, rewritten)
            if texts and not known:
                texts.made(case, rewritten)
    return outcomes


@cache
def _marked(case: Case) -> dict[str, str]:
    return marked(case.example.files, case.example.expected(case.rule.code))


@cache
def _unmarked(case: Case) -> Unmarked:
    return unmarked(case.marked)


@cache
def _rules() -> dict[str, Rule]:
    return load_rules()


@cache
def _alone(code: str) -> RuleSet:
    return RuleSet(_rules(), frozenset({code}))


@cache
def _settings() -> Settings:
    return settings_for([_FOLDER], isolated=True).with_options(jobs=1)
