"""Recipes mean what HyperPyYAML makes of them: checked against the library itself."""

from __future__ import annotations

import functools
import itertools
import pydoc
from typing import TYPE_CHECKING, Any

import hyperpyyaml
import pytest
from effort import drawn
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.items import Evaluation, Item, ItemKind, ProblemKind

if TYPE_CHECKING:
    from pathlib import Path


def evaluation(folder: Path, files: dict[str, str]) -> Evaluation:
    """The first of the files, evaluated."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project = Project(ProjectOptions(folder))
    recipe = project.recipe(folder / next(iter(files)))
    assert recipe is not None
    return evaluate(recipe, project)


def constructed(item: Item, objects: dict[int, Any]) -> Any:
    """The object that an item stands for; only harmless classes are ever named in these tests."""
    if id(item) not in objects:
        fields = {name: constructed(child, objects) for name, child in item.fields.items()}
        elements = [constructed(child, objects) for child in item.elements]
        objects[id(item)] = _construct(item, fields, elements)
    return objects[id(item)]


def _construct(item: Item, fields: dict[Any, Any], elements: list[Any]) -> Any:
    match item.kind:
        case ItemKind.CONSTANT:
            return item.value if item.values is None else item.values
        case ItemKind.MAPPING:
            return fields
        case ItemKind.SEQUENCE:
            return elements
        case ItemKind.NEW | ItemKind.APPLY:
            return pydoc.locate(item.target)(*elements, **fields)  # type: ignore[operator]
        case ItemKind.NAME if fields or elements:
            return functools.partial(pydoc.locate(item.target), *elements, **fields)  # type: ignore[arg-type]
        case ItemKind.NAME | ItemKind.MODULE:
            return pydoc.locate(item.target)
        case ItemKind.ATTRIBUTE:
            return getattr(elements[0], str(item.value))
    raise AssertionError(f"{item} is unknown")


def plain(value: Any) -> Any:
    """Partials are compared by what they call."""
    if isinstance(value, functools.partial):
        return value.func, plain(list(value.args)), plain(value.keywords)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if type(value) is list else value


def shared(values: dict[str, Any]) -> set[tuple[str, str]]:
    """Which top-level keys hold the very same object."""
    pairs = itertools.combinations(sorted(values), 2)
    return {(a, b) for a, b in pairs if values[a] is values[b] and isinstance(values[a], list | dict)}


SAMPLES = [
    "a: 3\nb: !ref <a>\nc: !ref <a> * 2 + 1\nd: !ref <a>/x\ne: !ref <b>\n",
    "b: !ref <a>\na: {x: 1, y: !ref <c>}\nc: 3\n",
    "a: {b: {c: 1}}\nd: !ref <a[b][c]>\ne: !ref <a[b]>\nf: !copy <a[b]>\ng: !ref <a>\n",
    "a: !new:collections.Counter {x: 1}\nb: !ref <a>\nc: !copy <a>\nd: [!ref <a>, !ref <c>]\n",
    "a: !new:collections.Counter\nb: !ref <a>\nc: !copy <a>\n",
    "a: !new:fractions.Fraction [!ref <n>, 4]\nn: 3\nb: !ref <a.denominator>\nc: !ref <a>\n",
    "a: !name:collections.Counter\nb: !name:collections.Counter {x: !ref <c>}\nc: 1\nd: !module:math\n",
    "a: !apply:sorted [[3, 1, 2]]\nb: !ref <a>\nc: !apply:max [!ref <d>, 2]\nd: 7\n",
    "a: <b>\nb: 3\nc: !ref <a>\nd: !ref <a> + 1\n",
    "a: <b> + 1\nb: 3\nc: !ref <a>\n",
    "a: 5\nb: !ref <a> // 2\nc: !ref <a> / 2\nd: !ref -<a>\ne: !ref <a> ** 2 % 7\nf: !ref 1 + (<a> - 2)\n",
    "x: &x {p: 1, q: !ref <z>}\nz: 9\ny:\n  <<: *x\n  p: 2\nr: !ref <y[q]>\ns: *x\n",
    "a: 010\nb: 0x1F\nc: 1e-3\nd: yes\ne: 1_000\nf: 0o17\nh: ~\ni: True\nj: on\n"
    "k: 12:30:45\nm: -1.5e+3\nn: 1.\no: .5\nz: !ref <a>\n",
    "a: null\nb: !ref <a>\nc: !ref <a>x\nd: !ref <a> + 1\ne: true\nf: !ref <e> + <e>\n",
    "a: '3'\nb: !ref <a>\nc: !ref <a> + 1\nd: 3 + 1\ne: !ref <d>\nf: !ref <d> + 0\n",
    "a: 0.00001\nb: !ref <a>x\nc: 1e10\nd: !ref <c>x\ne: 1.50\nf: !ref <e>x\ng: !ref <e> * 1\n",
    "a: !ref <b\nb: 1\nc: !ref b>\nd: !ref\ne: !ref ''\nf: !ref <b>\n",
    "a: {b: 7}\nb: !ref <a[b>\nc: !ref <a[b]]>\n",
    "__a: 5\nb: !ref <__a>\n",
    "x y: 1\na: !ref <x y>\n",
    "a: |\n  l1\n  l2\nb: !ref <a>x\nc: >\n  folded\n  text\nd: !ref <c>\n",
    "a: !new:collections.OrderedDict\n  - - [x, !ref <b>]\nb: 2\nc: [[!ref <a>]]\n",
    "a: &q [1, 2]\nb: *q\nc: !ref <a>\nd: !ref <b>\n",
    "a: 'True'\nb: !ref <a>\nc: !ref <a> + 1\n",
    "a: 7\nb: !ref <<a>>\n",
    "b: !ref <d>\nc: !ref <b[q]>\nd: {p: 2, q: 1}\n",
]

BROKEN = [
    ("a: !ref <b>\n", ProblemKind.UNDEFINED),
    ("a: !ref <>\n", ProblemKind.UNDEFINED),
    ("a: [1, 2]\nb: !ref <a[0]>\n", ProblemKind.UNDEFINED),
    ("a: {0: 2}\nb: !ref <a[0]>\n", ProblemKind.UNDEFINED),
    ("a: xyz\nb: !ref <a[y]>\n", ProblemKind.UNDEFINED),
    ("a: 3\nb: !ref <a[y]>\n", ProblemKind.UNDEFINED),
    ("a: [p, q]\nb: !ref <a[p]>\n", ProblemKind.UNDEFINED),
    ("a: !new:collections.Counter {x: 1}\nb: !ref <a[y]>\n", ProblemKind.UNDEFINED),
    ("a: <bos>\nb: !ref <a>\n", ProblemKind.UNDEFINED),
    ("a: !ref results/<b>/x\n", ProblemKind.UNDEFINED),
    ("a: !ref <b>\nb: !ref <c>\nc: 3\n", ProblemKind.FORWARD),
    ("b: !copy <a>\na: !new:collections.Counter {x: !ref <c>}\nc: 3\n", ProblemKind.FORWARD),
    ("d: !ref <a[x]>\na: {x: !ref <b>}\nb: 1\n", ProblemKind.FORWARD),
    ("b: !copy <a>\na: {x: !copy <c>}\nc: 3\n", ProblemKind.FORWARD),
    ("x: !ref <m>\nm: !include:r.yaml\n", ProblemKind.FORWARD),
    ("a: !ref <a>\n", ProblemKind.CYCLE),
    ("a: !ref <b>\nb: !ref <a>\n", ProblemKind.CYCLE),
    ("a: !copy <b>\nb: !ref <c>\nc: !copy <a>\n", ProblemKind.CYCLE),
    ("a: {b: !copy <a>}\n", ProblemKind.CYCLE),
    ("a: {b: !copy <c>}\nc: {d: !copy <a>}\n", ProblemKind.CYCLE),
    ("a: <b>\nb: <a>\nc: !ref <a>\n", ProblemKind.CYCLE),
    ("a: <a>\nb: !ref <a>\n", ProblemKind.CYCLE),
    ("a: !ref <a>/x\n", ProblemKind.CYCLE),
    ("a: !ref <b>/1\nb: !ref <a>/2\n", ProblemKind.CYCLE),
    ("m: !include:r.yaml\n", ProblemKind.CYCLE),
    ("a: !ref {x: 1}\nb: !ref <c>\nc: 1\n", ProblemKind.SHAPE),
    ("a: !copy [1]\nb: !ref <c>\nc: 1\n", ProblemKind.SHAPE),
    ("a: !tuple [1, 2]\nb: !ref <c>\nc: 1\n", ProblemKind.SHAPE),
    ("a: 7\nb: !ref <a> % 0\n", ProblemKind.ARITHMETIC),
    ("a: !include:missing.yaml\n", ProblemKind.INCLUDE),
]


@pytest.mark.parametrize("text", SAMPLES)
def test_values_and_identities_are_those_of_the_library(text: str, tmp_path: Path) -> None:
    expected = hyperpyyaml.load_hyperpyyaml(text)
    found = evaluation(tmp_path, {"r.yaml": text})
    assert found.problems == ()
    objects: dict[int, Any] = {}
    values = {str(k): constructed(v, objects) for k, v in found.keys.items() if not str(k).startswith("__")}
    assert plain(values) == plain(expected)
    assert [type(value) for value in values.values()] == [type(value) for value in expected.values()]
    assert shared(values) == shared(expected)


@pytest.mark.parametrize(("text", "kind"), BROKEN)
def test_what_the_library_refuses_is_a_problem(text: str, kind: ProblemKind, tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(text)
    with pytest.raises((Exception, RecursionError)), path.open() as stream:
        hyperpyyaml.load_hyperpyyaml(stream)
    assert kind in {problem.kind for problem in evaluation(tmp_path, {"r.yaml": text}).problems}


def test_tuples_are_strings_in_parentheses(tmp_path: Path) -> None:
    text = 'a: 3\nb: (1, 2)\nc: !ref (<a>, <a>)\nd: !tuple (x, "y z", 1.5)\ne: ()\nf: (1, (2, 3))\n'
    keys = evaluation(tmp_path, {"r.yaml": text}).keys
    assert [keys[name].values for name in "abcdef"] == [None, (1, 2), (3, 3), ("x", "y z", 1.5), (), None]


INCLUDED = {
    "main.yaml": (
        "n: 4\n"
        "obj: !new:collections.Counter {x: 1}\n"
        "models: !include:sub/models.yaml\n"
        "    width: !ref <n> * 2\n"
        "    nested: {depth: 9}\n"
        "    given: !ref <obj>\n"
        "again: !include:sub/models.yaml\n"
        "    given: none\n"
        "first: !ref <models[layer]>\n"
        "plain: !include:plain.yaml\n"
        "total: !ref <models[layer][size]> + <plain[k]>\n"
        "other: !ref <again[layer]>\n"
    ),
    "sub/models.yaml": (
        "width: 1\n"
        "nested: {depth: 2, height: 3}\n"
        "layer: !new:collections.Counter\n"
        "    size: !ref <width>\n"
        "    depth: !ref <nested[depth]>\n"
        "    height: !ref <nested[height]>\n"
        "deeper: !include:more.yaml\n"
        "ref: !ref <deeper[v]> * 2\n"
    ),
    "sub/more.yaml": "u: 5\nv: !ref <u> + 1\n",
    "plain.yaml": "k: 100\n",
}


def test_includes_with_overrides_are_those_of_the_library(tmp_path: Path) -> None:
    found = evaluation(tmp_path, INCLUDED)
    with (tmp_path / "main.yaml").open() as stream:
        expected = hyperpyyaml.load_hyperpyyaml(stream)
    objects: dict[int, Any] = {}
    values = {str(key): constructed(item, objects) for key, item in found.keys.items()}
    assert found.problems == ()
    assert values == expected
    assert (values["first"] is values["models"]["layer"]) == (expected["first"] is expected["models"]["layer"])
    assert (values["models"]["given"] is values["obj"]) == (expected["models"]["given"] is expected["obj"])
    assert values["other"] is not values["first"]


@pytest.mark.parametrize("value", ["1", "{q: 2}", "[2]", "!new:collections.Counter {q: 2}", "!new:collections.Counter"])
@pytest.mark.parametrize(
    "override",
    ["{}", "{p: 1}", "!new:collections.Counter {p: 1}", "!new:collections.Counter", "[1]", "!ref <z>", "!copy <z>"],
)
def test_overrides_that_are_mappings_are_merged_or_refused(override: str, value: str, tmp_path: Path) -> None:
    text = f"y: !ref <z>\nm: !include:b.yaml\n  k: {override}\nz: {{p: 1}}\n"
    compare(evaluation(tmp_path, {"r.yaml": text, "b.yaml": f"k: {value}\n"}), tmp_path / "r.yaml", text)


def test_places_of_included_objects_are_in_the_included_file(tmp_path: Path) -> None:
    layer = evaluation(tmp_path, INCLUDED).keys["first"]
    assert layer.path == "models[layer]"
    assert layer.place.path == (tmp_path / "sub/models.yaml").as_posix()
    assert layer.place.span.line == 3


def test_an_undefined_key_names_the_keys_there_are(tmp_path: Path) -> None:
    found = evaluation(tmp_path, {"r.yaml": "models: {enc: 1, dec: 2}\nx: !ref <models[dce]>\n"})
    (problem,) = found.problems
    assert (problem.text, problem.missing, problem.available) == ("models[dce]", "dce", ("dec", "enc"))
    assert problem.place.span.line == 2


def test_placeholders_and_results_of_functions_are_unknown(tmp_path: Path) -> None:
    text = "a: !PLACEHOLDER\nb: !ref <a>/x\nc: !applyref:dict {d: 1}\ne: !ref <c[d]>\nf: !ref <a[b][c]>\n"
    found = evaluation(tmp_path, {"r.yaml": text})
    assert found.problems == ()
    assert {found.keys[name].kind for name in "abcef"} == {ItemKind.UNKNOWN}


def test_nothing_is_called(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    text = (
        f"a: !apply:os.mkdir [{marker}]\nb: !applyref:os.mkdir [{marker}]\nc: !ref <a>\nd: !new:os.mkdir [{marker}]\n"
    )
    assert evaluation(tmp_path, {"r.yaml": text}).problems == ()
    assert not marker.exists()


@pytest.mark.parametrize(
    "files",
    [
        {"a.yaml": "b: !include:a.yaml\n"},
        {"a.yaml": "b: !include:b.yaml\n", "b.yaml": "a: !include:a.yaml\n"},
    ],
    ids=["itself", "each other"],
)
def test_includes_without_end_end(files: dict[str, str], tmp_path: Path) -> None:
    assert ProblemKind.CYCLE in {problem.kind for problem in evaluation(tmp_path, files).problems}


def test_includes_that_double_end_and_are_no_cycle(tmp_path: Path) -> None:
    twice = "x: !include:f{0}.yaml\ny: !include:f{0}.yaml\n"
    files = {f"f{number}.yaml": twice.format(number + 1) for number in range(30)}
    assert evaluation(tmp_path, {**files, "f30.yaml": "x: 1\n"}).problems == ()


@pytest.mark.dear
@pytest.mark.parametrize(
    "text",
    [
        "a0: !new:x.Y {v: 1}\n" + "".join(f"a{i}: [!copy <a{i - 1}>, !copy <a{i - 1}>]\n" for i in range(1, 60)),
        "a0: {v: 1}\n" + "".join(f"a{i}: [!ref <a{i - 1}>, !ref <a{i - 1}>]\n" for i in range(1, 2000)),
        "".join(f"a{i}: {{x: !ref <a{i + 1}>}}\n" for i in range(3000)) + "a3000: 1\n",
        "".join(f"a{i}: !copy <a{i + 1}>\n" for i in range(3000)) + "a3000: [1]\n",
        "".join(f"a{i}: [!copy <a{i + 1}>]\n" for i in range(3000)) + "a3000: [1]\n",
        "".join(f"a{i}: <a{i + 1}>\n" for i in range(3000)) + "a3000: 1\nb: !ref <a0>\n",
        "a: 9\nb: !ref <a> ** <a> ** <a> ** <a>\nc: !ref \"'x' * 99999999999 <a>\"\nd: !ref 1 << 9\n",
        "a: \n  p: !ref 1 - <b[q]>\nb:\n  q: !ref <a[p]> + <a[p]>\n  r: !ref <b[q]>\n",
        "a: {b: !ref <a>}\nc: [!ref <c>]\nd: !copy <a>\ne: {f: !copy <e>}\n",
        "a: !ref " + "(" * 900 + "<b>" + ")" * 900 + "\nb: 1\n",
        "a: 1\nb: !ref " + "<a>+" * 20000 + "1\n",
    ],
    ids=[
        "copies",
        "refs",
        "forward",
        "copy chain",
        "copy nest",
        "string chain",
        "giants",
        "doubling",
        "cycles",
        "deep",
        "long",
    ],
)
def test_recipes_that_explode_do_not(text: str, tmp_path: Path) -> None:
    found = evaluation(tmp_path, {"r.yaml": text})
    assert sum(1 for _ in found.root.walk()) < 100_000


_NAMES = ("a", "b", "c", "d")
_reference = st.sampled_from(
    [f"<{name}>" for name in _NAMES] + [f"<{name}[{inner}]>" for name in _NAMES for inner in ("p", "q")]
)
_scalar = st.sampled_from(["1", "2.5", "text", "null", "true", "'3'", "1e3", "x/y"])
_templates = st.sampled_from(["{}", "{} * 2", "{}/x", "1 - {}", "{} // 2"])
_resolved = st.builds(
    lambda tag, template, first: f"{tag} '{template.replace('{}', first)}'",
    st.sampled_from(["!ref", "!copy"]),
    _templates,
    _reference,
)
_leaf = st.one_of(_scalar, _resolved, st.just("!new:collections.Counter"))
_mapping = st.builds(
    lambda tag, p, q: f"{tag}\n  p: {p}\n  q: {q}",
    st.sampled_from(["", "", "!name:collections.Counter"]),
    _leaf,
    _leaf,
)
_value = st.one_of(_leaf, _mapping, st.builds("\n  - {}\n  - {}".format, _leaf, _leaf))


@pytest.mark.dear
@given(st.lists(_value, min_size=4, max_size=4))
@settings(max_examples=drawn(300), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_generated_recipes_mean_what_the_library_makes_of_them(
    tmp_path_factory: pytest.TempPathFactory, values: list[str]
) -> None:
    text = "".join(f"{name}: {value}\n" for name, value in zip(_NAMES, values, strict=True)) + "e: !ref <a>\n"
    folder = tmp_path_factory.mktemp("recipe")
    found = evaluation(folder, {"r.yaml": text})
    assume(not _is_odd(found))
    compare(found, folder / "r.yaml", text)


def compare(found: Evaluation, path: Path, shown: str) -> None:
    """The library must load the very same objects, or raise where there are problems."""
    try:
        with path.open(encoding="utf-8") as stream:
            expected = hyperpyyaml.load_hyperpyyaml(stream)
    except Exception:
        assert found.problems, shown
        return
    assert not found.problems, shown
    objects: dict[int, Any] = {}
    mine = {str(key): constructed(item, objects) for key, item in found.keys.items()}
    assert plain(mine) == plain(expected), shown
    assert shared(mine) == shared(expected), shown


_callable = st.builds(
    lambda tag, argument: f"{tag} ['{argument}']" if argument == "text" else f"{tag}\n  - {argument}",
    st.sampled_from(["!apply:builtins.repr", "!apply:builtins.callable", "!name:builtins.repr", "!name:builtins.max"]),
    _leaf,
)
_any_value = st.one_of(_value, _callable, st.just("!name:collections.Counter"), st.just("!module:math"))
_overrides = st.dictionaries(st.sampled_from(("a", "b", "x")), _leaf, max_size=2)


def _included(overrides: dict[str, str]) -> str:
    below = "".join(f"\n  {name}: {value}" for name, value in overrides.items())
    return f"!include:part.yaml{below}"


@pytest.mark.dear
@given(
    st.lists(_any_value, min_size=4, max_size=4),
    st.lists(_value, min_size=2, max_size=2),
    _overrides,
    st.sampled_from(_NAMES),
)
@settings(max_examples=drawn(300), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_generated_includes_mean_what_the_library_makes_of_them(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[str],
    inner: list[str],
    overrides: dict[str, str],
    replaced: str,
) -> None:
    """One of the keys includes a file, whose own keys are overridden with what the others are."""
    folder = tmp_path_factory.mktemp("recipe")
    part = "".join(f"{name}: {value}\n" for name, value in zip(("a", "b"), inner, strict=True)) + "x: !ref <a>\n"
    entries = dict(zip(_NAMES, values, strict=True)) | {replaced: _included(overrides)}
    text = "".join(f"{name}: {value}\n" for name, value in entries.items())
    text += f"e: !ref <{replaced}[x]>\nf: !ref <a>\ng: !copy <{replaced}>\n"
    found = evaluation(folder, {"r.yaml": text, "part.yaml": part})
    assume(not _is_odd(found))
    compare(found, folder / "r.yaml", f"{text}---\n{part}")


_whole = st.builds("{} '{}'".format, st.sampled_from(["!ref", "!copy"]), _reference)
_thing = st.one_of(_scalar, _whole, st.just("!new:collections.Counter"))
_things = st.one_of(
    _thing,
    st.builds("\n  p: {}\n  q: {}".format, _thing, _thing),
    st.builds("!name:collections.Counter\n  p: {}\n  q: {}".format, _thing, _thing),
    st.builds("\n  - {}\n  - {}".format, _thing, _thing),
)


@given(
    st.lists(_things, min_size=4, max_size=4),
    st.lists(_things, min_size=2, max_size=2),
    st.dictionaries(st.sampled_from(("a", "b", "x")), _scalar, max_size=2),
    st.sampled_from(_NAMES),
)
@settings(max_examples=drawn(300), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_a_generated_recipe_has_a_problem_where_the_library_raises(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[str],
    inner: list[str],
    overrides: dict[str, str],
    replaced: str,
) -> None:
    """References stand alone here: over text that is filled in the library may take for ever."""
    folder = tmp_path_factory.mktemp("recipe")
    part = "".join(f"{name}: {value}\n" for name, value in zip(("a", "b"), inner, strict=True))
    entries = dict(zip(_NAMES, values, strict=True)) | {replaced: _included(overrides)}
    text = "".join(f"{name}: {value}\n" for name, value in entries.items()) + f"e: !ref <{replaced}[a]>\n"
    found = evaluation(folder, {"r.yaml": text, "part.yaml": part})
    assume(all(problem.kind is not ProblemKind.ITSELF for problem in found.problems))
    try:
        with (folder / "r.yaml").open(encoding="utf-8") as stream:
            hyperpyyaml.load_hyperpyyaml(stream)
    except Exception:
        assert found.problems, f"{text}---\n{part}"
    else:
        assert not found.problems, f"{text}---\n{part}{found.problems}"


def _is_odd(found: Evaluation) -> bool:
    """Whether something is unknown, or holds itself: the library may take for ever over it."""
    every = list(found.root.walk())
    unknown = any(item.kind is ItemKind.UNKNOWN for item in every)
    cyclic = any(problem.kind in (ProblemKind.CYCLE, ProblemKind.ITSELF) for problem in found.problems)
    return unknown or cyclic or any(item in child.walk() for item in every for _, child in item.children())
