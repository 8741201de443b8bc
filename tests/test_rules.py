"""Every rule against its own examples, which are its documentation as well."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import modellint
from modellint.examples import (
    bad_is_found,
    each_file_alone_shows_its_own,
    fix_gives_what_it_says,
    good_is_left_alone,
    problems,
)
from modellint.packs import load_rules
from modellint.reading.example_folders import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _pytest.mark import ParameterSet

    from modellint.rule import Example, Rule

LOADED = load_rules()
RULES = [type(rule) for rule in LOADED.values()]
CODES = [rule.code for rule in RULES]


def examples(kind: str) -> Iterable[ParameterSet]:
    for rule in RULES:
        for number, example in enumerate(getattr(rule, kind)):
            yield pytest.param(rule, example, id=f"{rule.code}-{number}-{example.title}")


@pytest.mark.parametrize(("rule", "example"), list(examples("bad")))
def test_a_bad_example_is_found_where_it_says(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    assert problems(bad_is_found, rule, example, LOADED, tmp_path) == []


@pytest.mark.parametrize(("rule", "example"), list(examples("good")))
def test_a_good_example_is_left_alone(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    assert problems(good_is_left_alone, rule, example, LOADED, tmp_path) == []


@pytest.mark.dear
@pytest.mark.parametrize(("rule", "example"), list(examples("bad")))
def test_a_file_that_is_checked_alone_shows_what_is_wrong_in_it(
    rule: type[Rule], example: Example, tmp_path: Path
) -> None:
    assert problems(each_file_alone_shows_its_own, rule, example, LOADED, tmp_path) == []


@pytest.mark.dear
@pytest.mark.parametrize(("rule", "example"), list(examples("bad")))
def test_a_fix_gives_what_the_example_says_and_nothing_is_left_to_fix(
    rule: type[Rule], example: Example, tmp_path: Path
) -> None:
    assert problems(fix_gives_what_it_says, rule, example, LOADED, tmp_path) == []


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
def test_a_rule_is_a_folder_that_bears_its_code_and_name(rule: type[Rule]) -> None:
    file = Path(inspect.getfile(rule))
    assert file.name == "__init__.py"
    assert file.parent.name == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert folder_of(rule) == file.parent
    assert rule.__name__ == "".join(part.capitalize() for part in rule.name.split("-"))


def test_codes_and_names_are_unique() -> None:
    assert len(set(CODES)) == len(CODES)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_each_folder_of_the_pack_is_a_rule() -> None:
    pack = Path(inspect.getfile(RULES[0])).parent.parent
    assert {path.parent.name[:5].upper() for path in pack.glob("ml*/__init__.py")} == set(CODES)
    assert [path.name for path in pack.glob("*.py")] == ["__init__.py"]


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_the_name_of_an_example_is_short_and_its_own(rule: type[Rule]) -> None:
    folder = folder_of(rule)
    assert folder is not None
    names = [path.name for kind in ("bad", "good") for path in (folder / kind).iterdir() if path.name != "__pycache__"]
    assert len(set(names)) == len(names) == len(rule.bad) + len(rule.good)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 48] == []


def test_the_engine_knows_no_rule_by_its_code() -> None:
    """`modellint/` speaks of rules only in documentation."""
    code = re.compile(r"""["']ML\d{3}["']""")
    engine = Path(modellint.__file__).parent
    assert [path for path in engine.rglob("*.py") if code.search(path.read_text())] == []
