"""Every rule against its own examples, which are its documentation as well."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import modellint
from modellint.config import settings_for
from modellint.discovery import discover
from modellint.fix.fixer import Fixer
from modellint.linter import run
from modellint.packs import load_rules, select_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _pytest.mark import ParameterSet

    from modellint.finding import Finding
    from modellint.rule import Example, Rule

RULES = [type(rule) for rule in load_rules().values()]
CODES = [rule.code for rule in RULES]


def examples(kind: str) -> Iterable[ParameterSet]:
    for rule in RULES:
        for number, example in enumerate(getattr(rule, kind)):
            yield pytest.param(rule, example, id=f"{rule.code}-{number}-{example.title}")


def materialise(files: Mapping[str, str], folder: Path) -> None:
    """Write the files of an example into a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def found_by(rule: type[Rule], folder: Path, *, paths: Iterable[Path] | None = None) -> set[tuple[str, int]]:
    """Where a rule finds something in a folder, at medium confidence or above."""
    return {
        (Path(finding.path).relative_to(folder).as_posix(), finding.span.line)
        for finding in modellint.check(paths or [folder], isolated=True)
        if finding.code == rule.code
    }


@pytest.mark.parametrize(("rule", "example"), list(examples("bad")))
def test_a_bad_example_is_found_where_it_says(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    materialise(example.files, tmp_path)
    expected = example.expected(rule.code)
    assert expected, "a bad example marks what is bad with `# expect: CODE`"
    assert found_by(rule, tmp_path) == expected


@pytest.mark.parametrize(("rule", "example"), list(examples("good")))
def test_a_good_example_is_left_alone(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    materialise(example.files, tmp_path)
    assert found_by(rule, tmp_path) == set()
    assert example.expected(rule.code) == set()


@pytest.mark.parametrize(("rule", "example"), list(examples("bad")))
def test_a_file_that_is_checked_alone_shows_what_is_wrong_in_it(
    rule: type[Rule], example: Example, tmp_path: Path
) -> None:
    """What a commit hook sees: one file is named, the others are there to be linked."""
    materialise(example.files, tmp_path)
    for name, line in example.expected(rule.code):
        assert (name, line) in found_by(rule, tmp_path, paths=[tmp_path / name])


def fix(rule: type[Rule], folder: Path) -> Fixer:
    """Make all fixes of one rule in a folder."""
    settings = settings_for([folder], isolated=True).with_options(select=(rule.code,))
    rules = select_rules(settings)
    fixer = Fixer(settings, rules, unsafe=True)
    run(discover([folder], settings)[0], settings, rules, use_cache=False, fix=fixer)
    return fixer


@pytest.mark.parametrize(("rule", "example"), list(examples("bad")))
def test_a_fix_gives_what_the_example_says_and_nothing_is_left_to_fix(
    rule: type[Rule], example: Example, tmp_path: Path
) -> None:
    materialise(example.files, tmp_path)
    before = modellint.check([tmp_path], isolated=True)
    assert fix(rule, tmp_path).failures == []
    expected = {**example.files, **(example.fixed or {})}
    assert {name: (tmp_path / name).read_bytes().decode() for name in expected} == expected
    after = modellint.check([tmp_path], isolated=True)
    assert [finding for finding in after if finding.code == rule.code and finding.fix is not None] == []
    assert Counter(map(_subject, after)) <= Counter(map(_subject, before)), "a fix brings up something else"
    assert fix(rule, tmp_path).rewrites == []


def _subject(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.path, finding.symbol


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_has_enough_examples(rule: type[Rule]) -> None:
    assert len(rule.bad) >= 4
    assert len(rule.good) >= 6
    titles = [example.title for example in (*rule.bad, *rule.good)]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_documents_itself(rule: type[Rule]) -> None:
    docs = rule.docs()
    assert docs.summary[:1].isupper()
    assert not docs.summary.endswith(".")
    headings = re.findall(r"^## (.+)$", docs.body, re.MULTILINE)
    assert headings[:3] == ["What it does", "Why is this bad", "How to fix"]


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_is_one_file_that_bears_its_code_and_name(rule: type[Rule]) -> None:
    stem = Path(inspect.getfile(rule)).stem
    assert stem == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert rule.__name__ == "".join(part.capitalize() for part in rule.name.split("-"))


def test_codes_and_names_are_unique() -> None:
    assert len(set(CODES)) == len(CODES)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_each_file_of_the_pack_is_a_rule() -> None:
    folder = Path(inspect.getfile(RULES[0])).parent
    assert {path.stem[:5].upper() for path in folder.glob("ml*.py")} == set(CODES)


def test_the_engine_knows_no_rule_by_its_code() -> None:
    """`modellint/` speaks of rules only in documentation."""
    code = re.compile(r"""["']ML\d{3}["']""")
    engine = Path(modellint.__file__).parent
    assert [path for path in engine.rglob("*.py") if code.search(path.read_text())] == []
