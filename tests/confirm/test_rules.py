"""Every rule that can be confirmed: its bad examples confirm, its good ones never do, and repaired ones are refuted.

Each example is run in a process of its own, which takes minutes for all of them: unless `MODELLINT_CONFIRM` is `all`,
as in CI, the first example of each kind and rule stands for the rest.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from repaired import Repaired
from served import SERVERS, served

import modellint
from modellint.config import settings_for
from modellint.confirm.child import answer
from modellint.confirm.confirmer import Confirmer, Wishes
from modellint.confirm.plan import group_by_target
from modellint.finding import Status
from modellint.link.project import Project, ProjectOptions
from modellint.packs import load_rules, select_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from modellint.finding import Finding
    from modellint.rule import Example, Rule

RULES = [type(rule) for rule in load_rules().values()]
#: What the examples of a rule import.
_NEEDS = dict.fromkeys(("ML201", "ML202", "ML210"), "speechbrain")
CONFIRMABLE = [
    rule
    for rule in RULES
    if rule.is_confirmable() and (rule.code not in _NEEDS or find_spec(_NEEDS[rule.code]) is not None)
]
FIXABLE = [rule for rule in CONFIRMABLE if rule.is_fixable()]
EVERY = os.environ.get("MODELLINT_CONFIRM") == "all"
_SAMPLE = 1
#: Of the findings in the bad examples of a family of rules fewer than this stay unconfirmed.
_UNCONFIRMED = 0.15
_LIBRARIES = ("speechbrain", "lightning", "transformers")
#: The package that an import needs.
_IMPORTED = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)
#: What loads the files of a model that others publish; torchvision is a library of networks with such files.
_PUBLISHED = re.compile(r"\.from_pretrained\(|torchvision")
#: What the verdict on a folder says of a library that alone reads it.
_ABSENT = re.compile(r"`(\w+)` is not installed")


def judged(rule: type[Rule], example: Example) -> list[Finding]:
    """The findings of a rule in an example, those of low confidence too, with their verdicts."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, example.files)
        settings = settings_for([folder], isolated=True)
        found = modellint.check([folder], isolated=True, min_confidence="low", jobs=1)
        mine = [finding for finding in found if finding.code == rule.code]
        confirm = Confirmer(settings, select_rules(settings), Wishes(show_refuted=True), SERVERS)
        return [*confirm(mine).findings] if mine else []


def judged_again(rule: type[Rule], example: Example) -> list[tuple[str, Finding]]:
    """What was found in an example and has a fix, judged anew by the same probe once all of it is fixed."""
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        _write(folder, example.files)
        found = modellint.check([folder], isolated=True, min_confidence="low", jobs=1, select=[rule.code])
        project = Project(ProjectOptions(root=folder))
        fixed = [finding for finding in found if finding.fix is not None]
        repaired = Repaired(finding.fix for finding in fixed if finding.fix is not None)
        probes = [
            (number, rule().probe(finding.claim, project)) for number, finding in enumerate(fixed) if finding.claim
        ]
        _write(folder, example.fixed or {})
        left = {(finding.symbol, finding.message) for finding in modellint.check([folder], isolated=True, jobs=1)}
        groups = group_by_target([(number, repaired.probe(probe)) for number, probe in probes if probe is not None])
        setup = served((folder.as_posix(),))
        verdicts = {number: verdict for group in groups for number, verdict in answer(group, setup).items()}
        return [
            (example.title, replace(finding, verdict=verdicts[number]))
            for number, finding in enumerate(fixed)
            if number in verdicts and (finding.symbol, finding.message) not in left
        ]


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(text.encode("utf-8", "surrogateescape"))


@cache
def verdicts(rule: type[Rule], kind: str) -> list[tuple[str, Finding]]:
    """The findings in the examples of a rule with their verdicts, by the title of the example."""
    examples: tuple[Example, ...] = getattr(rule, kind)[: None if EVERY else _SAMPLE]
    with ThreadPoolExecutor(2) as executor:
        results = list(executor.map(lambda example: judged(rule, example), examples))
    return [(example.title, finding) for example, found in zip(examples, results, strict=True) for finding in found]


def shown(title: str, finding: Finding) -> str:
    verdict = finding.verdict
    return (
        f"{finding.code} {title}:{finding.span.line} ({finding.confidence}): {verdict.status.value}: {verdict.detail}"
    )


def out_of_reach(rule: type[Rule]) -> set[str]:
    """The titles of bad examples that cannot be run: their library is not installed, or loads what others publish."""
    return {
        example.title
        for example in rule.bad
        for text in example.files.values()
        if (_PUBLISHED.search(text) and not any(path.endswith("config.json") for path in example.files))
        or lacks_library(text, example.files)
    }


def lacks_library(text: str, files: Mapping[str, str]) -> bool:
    """True if a text names or imports a library that is not installed; `files` of the example itself are none."""
    own = {Path(file).parts[0].partition(".")[0] for file in files} | {Path(file).stem for file in files}
    named = {name for name in _LIBRARIES if name in text}.union(_IMPORTED.findall(text))
    return any(find_spec(name) is None for name in named - own)


def waits_for_library(finding: Finding) -> bool:
    """True if a finding in a folder is unconfirmed for a library that is not installed, as this process finds, too."""
    said = finding.verdict.detail if finding.verdict.status is Status.UNCONFIRMED else None
    match = _ABSENT.search(said or "")
    return match is not None and find_spec(match[1]) is None


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("family", sorted({rule.code[:3] for rule in CONFIRMABLE}))
def test_bad_examples_confirm_and_are_never_refuted(family: str) -> None:
    rules = [rule for rule in CONFIRMABLE if rule.code.startswith(family)]
    found = [(rule, *case) for rule in rules for case in verdicts(rule, "bad")]
    assert all(finding.verdict.detail for _, _, finding in found)
    assert [shown(title, finding) for _, title, finding in found if finding.verdict.status is Status.REFUTED] == []
    possible = [
        (title, finding)
        for rule, title, finding in found
        if title not in out_of_reach(rule) and not waits_for_library(finding)
    ]
    unconfirmed = [shown(*case) for case in possible if case[1].verdict.status is Status.UNCONFIRMED]
    print(f"{len(unconfirmed)} of {len(possible)} findings are unconfirmed:", *unconfirmed, sep="\n")
    assert len(unconfirmed) < (_UNCONFIRMED if EVERY else 1) * len(possible)


@pytest.mark.parametrize("rule", CONFIRMABLE, ids=lambda rule: rule.code)
def test_good_examples_never_confirm(rule: type[Rule]) -> None:
    found = verdicts(rule, "good")
    assert [shown(*case) for case in found if case[1].verdict.status is Status.CONFIRMED] == []


@pytest.mark.dear
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("rule", FIXABLE, ids=lambda rule: rule.code)
def test_what_was_found_is_refuted_once_it_is_fixed(rule: type[Rule]) -> None:
    examples = [example for example in rule.bad if example.fixed and example.title not in out_of_reach(rule)]
    with ThreadPoolExecutor(2) as executor:
        cases = executor.map(lambda example: judged_again(rule, example), examples[: None if EVERY else 1])
    found = [case for some in cases for case in some]
    print(*(shown(*case) for case in found), sep="\n")
    assert [shown(*case) for case in found if case[1].verdict.status is not Status.REFUTED] == []


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.is_confirmable()], ids=lambda rule: rule.code)
def test_a_rule_that_is_not_confirmed_says_why(rule: type[Rule]) -> None:
    _, heading, rest = rule.docs().body.partition("## Confirming\n")
    assert heading
    assert rest.strip()
