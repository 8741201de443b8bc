"""Recipes are read node by node, with a place for everything, and nothing in them is ever constructed."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import yaml

from modellint.frontends.recipe import MAX_DEPTH, looks_like_recipe, names_target, read
from modellint.graph.recipe import Dialect, Node, NodeKind, Recipe, TagKind, read_scalar
from modellint.source import Span, UnreadableError

RECIPE = """\
# a comment with !ref <nothing>
seed: 17
größe: {breite: 80, tiefe: !ref <seed> + 1}
layer: &layer !new:torch.nn.Linear  # the class
    in_features: !ref <größe[breite]>
    out_features: !ref <seed> * <größe[breite]>
folder: !ref "results/<seed>/<größe[tiefe]>"
same: *layer
"""


def recipe(text: str | bytes) -> Recipe:
    found = read(Path("/p/r.yaml"), text.encode() if isinstance(text, str) else text)
    assert found is not None
    return found


def text_at(recipe: Recipe, span: Span) -> str:
    """What stands at a span, which is within one line."""
    assert span.line == span.end_line
    return recipe.source.lines[span.line - 1][span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize(
    "text",
    [
        "a: !new:torch.nn.Linear\n",
        "a: !name:x.y\n",
        "a: !apply:os.getcwd\n",
        "a: !applyref:dict {b: 1}\n",
        "a: !module:math\n",
        "a: !include:other.yaml\n",
        "a: !ref <b>\n",
        "a: !copy <b>\n",
        "a: !PLACEHOLDER\n",
    ],
)
def test_each_tag_of_hyperpyyaml_makes_a_recipe(text: str) -> None:
    assert looks_like_recipe(text.encode())
    assert read(Path("r.yaml"), text.encode()) is not None


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("a: !<!new:torch.nn.Linear>\n", "!new:torch.nn.Linear"),
        ("a: !new:torch.n%6E.Linear\n", "!new:torch.nn.Linear"),
        ("a: !%6Eew:torch.nn.Linear\n", "!new:torch.nn.Linear"),
        ("%TAG !n! !new:\n---\na: !n!torch.nn.Linear\n", "!new:torch.nn.Linear"),
        ("a: !<!ref> <b>\n", "!ref"),
        ('a: !ref "\\x3cb>"\n', "!ref"),
        ("a: !ref >-\n    <b>\n", "!ref"),
    ],
)
def test_a_tag_is_the_same_however_it_is_written(text: str, tag: str) -> None:
    assert recipe(text).keys["a"].value.tag.text == tag


def test_an_alias_has_a_place_of_its_own() -> None:
    r = recipe("a: !new:torch.nn.Linear\n    in_features: &n 8\n    out_features: *n\n")
    given = r.keys["a"].value
    assert [text_at(r, entry.span) for entry in given.entries] == ["&n 8", "*n"]
    assert given.entries[0].value is given.entries[1].value


@pytest.mark.parametrize("text", ["a: [!ref <b>\n", "{% raw %}: 50%20\nb: !ref x\n  c: d\n"])
def test_broken_yaml_is_only_reported_if_it_is_a_recipe_by_its_looks(text: str) -> None:
    if "<" in text:
        with pytest.raises(UnreadableError):
            read(Path("r.yaml"), text.encode())
    else:
        assert read(Path("r.yaml"), text.encode()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: 1\n",
        "on: push\njobs: {test: {runs-on: ubuntu-latest}}\n",
        "Resources:\n  Bucket: !Ref Name\n  Other: !GetAtt a.b\n",
        "script: !reference [.setup, script]\n",
        "theme: !!python/name:material.extensions.emoji.twemoji\n",
        "automation: !include automations.yaml\n",
        "# layer: !new:torch.nn.Linear\na: 1\n",
        "- !new:torch.nn.Linear\n",
        "just text with !PLACEHOLDER in it\n",
    ],
)
def test_other_yaml_is_passed_over(text: str) -> None:
    assert read(Path("r.yaml"), text.encode()) is None


def test_every_key_tag_and_reference_has_its_place() -> None:
    r = recipe(RECIPE)
    layer = r.keys["layer"]
    assert text_at(r, layer.key.span) == "layer"
    assert text_at(r, layer.value.tag.span) == "!new:torch.nn.Linear"
    assert (layer.value.tag.kind, layer.value.tag.target) == (TagKind.NEW, "torch.nn.Linear")
    written = [text_at(r, reference.span) for node in r.nodes() for reference in node.references]
    assert written == ["<seed>", "<größe[breite]>", "<seed>", "<größe[breite]>", "<seed>", "<größe[tiefe]>"]
    assert [text_at(r, r.keys[key].key.span) for key in ("seed", "größe", "folder")] == ["seed", "größe", "folder"]
    plain = [n for n in r.nodes() if n.kind is NodeKind.SCALAR and not n.tag.text and n.plain]
    assert all(text_at(r, node.span) == node.text for node in plain)


def test_an_alias_is_the_node_it_names() -> None:
    r = recipe(RECIPE)
    assert r.keys["same"].value is r.keys["layer"].value


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_places_do_not_depend_on_line_ends_and_encodings(newline: str, encoding: str) -> None:
    r = recipe(RECIPE.replace("\n", newline).encode(encoding))
    assert r.keys["layer"].value.tag.span == recipe(RECIPE).keys["layer"].value.tag.span
    assert text_at(r, r.keys["größe"].key.span) == "größe"


def test_the_pure_parser_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [(node.kind, node.span, node.text, node.tag.text) for node in recipe(RECIPE).nodes()]
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert [(node.kind, node.span, node.text, node.tag.text) for node in recipe(RECIPE).nodes()] == fast


def test_references_resolve_to_nodes() -> None:
    r = recipe("a: {b: {c: 3}}\nd: !ref <a[b]>\ne: !ref <d>\nf: !ref <f>\nx: !ref <a>/x\n")

    def resolved(reference: str) -> Node | None:
        return r.resolve(reference)

    c = resolved("a[b][c]")
    assert c is not None
    assert c.scalar == 3
    assert resolved("<e>") is r.keys["a"].value.items()["b"].value
    assert resolved("a[z]") is None
    assert resolved("a[b][c][d]") is None
    assert resolved("f") is None
    assert resolved("x") is r.keys["x"].value


def test_a_reference_that_is_folded_over_lines_stands_for_its_scalar() -> None:
    r = recipe('seed: 1\na: !ref "<se\\\n  ed>/x"\n')
    (reference,) = r.keys["a"].value.references
    assert reference.text == "seed"
    assert reference.span == r.keys["a"].value.span or reference.span.line == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1e-3", 0.001),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5e+3", -1500.0),
        ("12:30:45", "12:30:45"),
        ("~", None),
        ("", None),
        ("null", None),
        ("-", "-"),
        ("_", "_"),
        ("0x", "0x"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    found = read_scalar(text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: !ref <b>\nb: [1, 2}\n", 2, "valid YAML"),
        ("a: !ref <b>\n\tb: 1\n", 2, "valid YAML"),
        ("a: !ref <b>\nb: *c\n", 2, "`*c` stands for nothing"),
        ("a: &x !new:b.C\n  c: *x\n", 2, "`*x` stands for the node that contains it"),
        ("a: !ref <b>\n---\nb: 1\n", 2, "second document"),
        ('a: !ref <b>\nb: "open', 2, "valid YAML"),
        ("a: !ref <b>\nb: " + "[" * 10_000, 2, "levels deep"),
        ("a: !ref <b>\n" + "- " * 10_000 + "\n", 2, "valid YAML"),
        ("a: !ref <b>\nb: \x07\n", 2, "valid YAML"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, line: int, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        recipe(text)
    assert reason in error.value.reason
    assert error.value.span.line == line


def test_nesting_is_limited_and_reasonable_nesting_is_not() -> None:
    depth = MAX_DEPTH - 2
    r = recipe("a: !ref <b>\nb: " + "[" * depth + "]" * depth + "\n")
    assert sum(node.kind is NodeKind.SEQUENCE for node in r.nodes()) == depth
    pickle.loads(pickle.dumps(r))


def test_aliases_that_multiply_cost_nothing() -> None:
    lines = ["a0: &a0 !new:x.Y {v: 1}"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 60)]
    lines += [f"m{i}: &m{i} {{<<: [*m{i - 1}, *m{i - 1}], k{i}: 1}}" if i else "m0: &m0 {k: 1}" for i in range(60)]
    r = recipe("\n".join(lines) + "\n")
    assert len(list(r.nodes())) < 3000
    assert len(r.keys["m59"].value.items()) == 60


def test_a_merge_adds_what_is_not_there() -> None:
    r = recipe("a: &a {x: 1, y: 2}\nb: &b\n  y: 3\n  z: !ref <a[x]>\nc:\n  <<: [*a, *b]\n  x: 0\n")
    values = {name: entry.value.text for name, entry in r.keys["c"].value.items().items()}
    assert values == {"x": "0", "y": "2", "z": "<a[x]>"}


@pytest.mark.timeout(20)
def test_a_long_ruler_behind_a_key_is_passed_at_once() -> None:
    """Each `#` of it could begin a comment of its own: the number of ways doubles with each."""
    assert not names_target(b"_target_ " + b"#" * 200, Dialect.OMEGACONF)
    assert names_target(b"_target_  # one\n  # two\n  : torch.nn.Linear", Dialect.OMEGACONF)
