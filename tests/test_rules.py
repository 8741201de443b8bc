"""Every rule against its own examples, which are its documentation as well."""

from __future__ import annotations

import inspect
import re
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import modellint
from modellint.packs import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _pytest.mark import ParameterSet

    from modellint.finding import Edit
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


def with_edits(text: str, edits: Iterable[Edit]) -> str:
    """A text after edits of it, none of which overlap."""
    lines = text.splitlines(keepends=True)
    starts = list(accumulate((len(line) for line in lines), initial=0))
    for edit in sorted(edits, key=lambda edit: edit.place, reverse=True):
        span = edit.place.span
        start, end = starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1
        text = text[:start] + edit.text + text[end:]
    return text


@pytest.mark.parametrize(("rule", "example"), [case for case in examples("bad") if case.values[1].fixed is not None])
def test_a_fix_gives_what_the_example_says(rule: type[Rule], example: Example, tmp_path: Path) -> None:
    materialise(example.files, tmp_path)
    edits = {
        edit
        for finding in modellint.check([tmp_path], isolated=True)
        if finding.code == rule.code and finding.fix is not None
        for edit in finding.fix.edits
    }
    for name, fixed in example.fixed.items():
        path = (tmp_path / name).as_posix()
        assert with_edits(example.files[name], [edit for edit in edits if edit.place.path == path]) == fixed


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
