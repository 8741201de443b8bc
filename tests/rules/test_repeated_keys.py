"""What keeps HyperPyYAML from loading a recipe is found where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hyperpyyaml
import pytest
from modellint_rules.ml404_duplicate_key.repeated import repeated_keys

import modellint
from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import ProblemKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def found(folder: Path, files: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """Code, file and line of the findings about recipes."""
    write(folder, files)
    findings = modellint.check([folder], isolated=True)
    return [(f.code, f.path.rpartition("/")[2], f.span.line) for f in findings if f.code.startswith("ML4")]


def loads(path: Path) -> bool:
    try:
        with path.open() as stream:
            hyperpyyaml.load_hyperpyyaml(stream)
    except (Exception, RecursionError):
        return False
    return True


DUPLICATES = [
    ("a: 1\na: 2\nb: !ref <a>\n", 2),
    ("x: {a: 1, a: 2}\nb: !ref <x>\n", 1),
    ("x: &x {p: 1}\ny:\n  <<: *x\n  p: 2\nb: !ref <x>\n", None),
    ("x: &x {p: 1}\nz: &z {q: 1}\ny:\n  <<: *x\n  <<: *z\nb: !ref <x>\n", 5),
    ("x: &x {p: 1}\nz: &z {p: 3}\ny:\n  <<: [*x, *z]\nb: !ref <x>\n", None),
    ("y: {1: a, 0x1: b}\nb: !ref <y>\n", 1),
    ("y: {1: a, 1.0: b}\nb: !ref <y>\n", 1),
    ("y: {1: a, true: b}\nb: !ref <y>\n", 1),
    ("y: {yes: a, true: b}\nb: !ref <y>\n", None),
    ("y: {'a': 1, a: 2}\nb: !ref <y>\n", 1),
    ("y: {~: 1, null: 2}\nb: !ref <y>\n", 1),
    ("y: {~: 1, '': 2}\nb: !ref <y>\n", None),
    ("y: {1: a, '1': b}\nb: !ref <y>\n", None),
    ("y: {!!str 1: a, '1': 2}\nb: !ref <y>\n", 1),
    ("x: &a k\n*a : 1\nk: 2\nb: !ref <k>\n", 3),
    ("y: !new:collections.Counter\n  a: 1\n  a: 2\n", 3),
    ("y: {<<: {a: 1}, a: 2, a: 3}\nb: !ref <y>\n", 1),
]


@pytest.mark.parametrize(("text", "line"), DUPLICATES)
def test_keys_are_repeated_where_the_library_says_so(text: str, line: int | None, tmp_path: Path) -> None:
    expected = [] if line is None else [("ML404", "r.yaml", line)]
    assert found(tmp_path, {"r.yaml": text}) == expected
    assert loads(tmp_path / "r.yaml") == (line is None)


def test_a_repeated_key_of_a_plain_file_is_found_through_the_recipe_that_includes_it(tmp_path: Path) -> None:
    files = {"r.yaml": "m: !include:plain.yaml\nb: !ref <m[k]>\n", "plain.yaml": "k: 1\nk: 2\n"}
    assert ("ML404", "plain.yaml", 2) in found(tmp_path, files)
    assert not loads(tmp_path / "r.yaml")


def test_both_places_of_a_repeated_key_are_known(tmp_path: Path) -> None:
    write(tmp_path, {"r.yaml": "a: 1\nb: !ref <a>\na: 2\n"})
    project = Project(ProjectOptions(tmp_path))
    recipe = project.recipe(tmp_path / "r.yaml")
    assert recipe is not None
    (repeated,) = repeated_keys(recipe, project)
    assert (repeated.first.key.span.line, repeated.second.key.span.line) == (1, 3)


TAGS = [
    "a: !nme:torch.nn.Linear\n",
    "a: !<PLACEHOLDER>\n",
    "a: !placeholder\n",
    "a: !new collections.Counter\n",
    "a: !REF <b>\n",
    "a: !ref {x: 1}\n",
    "a: !copy [1]\n",
    "a: !tuple [1, 2]\n",
    "a: !!foo 3\n",
    "a: !!merge x\n",
    "a: !!python/foo x\n",
    "a: !applyref sorted\n",
    "a: !include c.yaml\n",
    "__a: !foo 3\n",
    "a: !name:collections.Counter {x: !nme:foo }\n",
    "!foo a: 1\n",
    "a: [!foo 1]\n",
]
KNOWN_TAGS = [
    "a: ! foo\n",
    "a: !!float 3\n",
    "a: !!set {x, y}\n",
    "a: !!omap [x: 1]\n",
    "a: !!python/tuple [1, 2]\n",
    "a: !!python/name:collections.Counter\n",
    "a: !!python/object/apply:collections.Counter [[1]]\n",
    "a: !!binary aGk=\n",
    "a: !!timestamp 2020-01-01\n",
    "a: !!map {x: 1}\n",
    "a: !tuple (1, 2)\n",
    "a: !ref\n",
]


@pytest.mark.parametrize("text", TAGS)
def test_tags_that_the_library_cannot_construct_are_found(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, {"r.yaml": text + "b: !ref <c>\nc: 1\n"}) == [("ML406", "r.yaml", 1)]
    assert not loads(tmp_path / "r.yaml")


@pytest.mark.parametrize("text", KNOWN_TAGS)
def test_tags_that_the_library_constructs_are_left_alone(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, {"r.yaml": text + "b: !ref <c>\nc: 1\n"}) == []
    assert loads(tmp_path / "r.yaml")


THEMSELVES = [
    ("a: {p: 1, b: !ref <a>}\n", [1]),
    ("a: {p: {q: !ref <a>, r: 2}}\n", [1]),
    ("a: [1, {b: !ref '<a>'}]\n", [1]),
    ("a: !name:collections.Counter {x: !ref <a>}\n", [1]),
    ("a: {b: !ref <c>}\nc: {d: !ref <a>}\n", [1]),
    ("a: !new:collections.Counter {x: !ref <b>}\nb: !new:collections.Counter {x: !ref <a>}\n", [1]),
    ("a: {b: !ref '<a[c]>', c: {d: !ref '<a[b]>'}}\n", [1]),
    ("a: {b: !ref '<a[c]>', c: {d: 1}}\n", []),
    ("a: {b: !ref <c>, d: !ref <c>}\nc: {d: !ref '<e>'}\ne: {x: 1}\n", []),
]


@pytest.mark.parametrize(("text", "lines"), THEMSELVES)
def test_an_object_that_holds_itself_becomes_none(text: str, lines: list[int], tmp_path: Path) -> None:
    assert [line for _, _, line in found(tmp_path, {"r.yaml": text})] == lines
    with (tmp_path / "r.yaml").open() as stream:
        assert ("None" in str(hyperpyyaml.load_hyperpyyaml(stream))) == bool(lines)


def test_files_that_include_each_other_are_a_cycle(tmp_path: Path) -> None:
    files = {"a.yaml": "b: !include:b.yaml\n", "b.yaml": "a: !include:a.yaml\n"}
    assert {code for code, _, _ in found(tmp_path, files)} == {"ML407"}
    assert not loads(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("plain", "kinds"),
    [
        ("", set()),
        ("- a\n- b\n", set()),
        ("just text\n", set()),
        ("a: [1\n", {ProblemKind.INCLUDE}),
        (None, {ProblemKind.INCLUDE}),
    ],
)
def test_what_may_be_included_may_be_any_yaml(plain: str | None, kinds: set[ProblemKind], tmp_path: Path) -> None:
    write(tmp_path, {"r.yaml": "m: !include:plain.yaml\n"} | ({} if plain is None else {"plain.yaml": plain}))
    project = Project(ProjectOptions(tmp_path))
    recipe = project.recipe(tmp_path / "r.yaml")
    assert recipe is not None
    assert {problem.kind for problem in evaluate(recipe, project).problems} == kinds
    assert loads(tmp_path / "r.yaml") == (not kinds)
