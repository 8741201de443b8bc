"""`${…}` in plain configurations means what OmegaConf makes of it: the same strings are read and refused, and the same
interpolations lead to the same values, or nowhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from effort import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from modellint.dialects.omegaconf import Configuration
from modellint.dialects.spots import spots_of
from modellint.frontends.recipe import read_config
from modellint.graph.interpolation import Interpolation, parse
from modellint.link.recipes.items import ItemKind

omegaconf = pytest.importorskip("omegaconf")
from omegaconf.errors import (  # noqa: E402
    GrammarParseError,
    InterpolationKeyError,
    InterpolationToMissingValueError,
    OmegaConfBaseException,
)

STRINGS = (
    *("plain", "${a}", "x${a}y${a}", "${ a }", "${a.b}", "${a[b]}", "${[a]}", "${a[b].c}", "${a.b[c].d}", "${.a}"),
    *("${..a.b}", "${a.${k}}", "${a[${k}]}", "${${k}}", "${a.0}", "${a[0]}", "${a-b}", "${a b}", "${a", "${}", "${.}"),
    *("${a.}", "${a..b}", "${a[b}", "${a]}", "$a", "$", "a$", "$$", "${a$b}", "${a${k}}", "\\${a}", "\\\\${a}"),
    *("\\\\\\${a}", "x\\${a}${a}", "\\x${a}", "${a}\\", "${a}}", "{${a}}", "${oc.env:HOME}"),
    *(
        "${oc.env:NOT_THERE,${a.b}}",
        "${oc.env:NOT_THERE,'}'}",
        '${oc.env:NOT_THERE,"x${a.b}"}',
        "${oc.decode:'{a: 1}'}",
    ),
    *("${oc.decode:{a: 1}}", "${a:}", "${a.b:c}", "${a[b]:c}", "${.a:b}", "${oc.env: NOT_THERE , x }"),
    *("${oc.env:NOT_THERE,\\}}", "${a:${b", "${a'b}", "${a(b)}", "${a/b}", "${a@b}", "${é}", "${a\tb}"),
)


def read(text: str) -> Configuration:
    """What we make of a configuration; it gets something to build, without which it is passed over."""
    recipe = read_config(Path("config.yaml"), f"{text}\nto_build: {{_target_: collections.Counter}}\n".encode())
    assert recipe is not None
    run = Configuration(spots_of(recipe))
    _ = run.root_item  # which evaluates all
    return run


def load(text: str) -> Any:
    return omegaconf.OmegaConf.create(f"{text}\nto_build: {{_target_: collections.Counter}}\n")


@pytest.mark.parametrize("text", STRINGS)
def test_the_same_strings_are_read_and_refused(text: str) -> None:
    try:
        omegaconf.OmegaConf.create({"value": text})
    except GrammarParseError:
        assert parse(text) is None or any(isinstance(p, Interpolation) and p.is_resolver for p in parse(text) or ())
    else:
        assert parse(text) is not None


@pytest.mark.parametrize(
    "text", [s for s in STRINGS if not any(isinstance(p, Interpolation) for p in parse(s) or ("",))]
)
def test_escaped_interpolations_are_text(text: str) -> None:
    try:
        expected = omegaconf.OmegaConf.create({"value": text}).value
    except GrammarParseError:
        return
    assert "".join(str(piece) for piece in parse(text) or ()) == expected


#: Configurations, as text or as what they hold.
CONFIGS: tuple[str | dict[str, Any], ...] = (
    "a: 1\nb: ${a}\nc: x${a}\n",
    "a: {b: {c: 3}}\nd: ${a.b.c}\ne: ${a.b.x}\nf: ${a.x.c}\ng: ${x.y}\n",
    {"a": {"b": 1, "c": "${.b}", "d": "${..e}", "f": "${..a.b}", "g": "${.x}", "h": "${..x}"}, "e": 2},
    {
        "a": {"b": {"c": 1, "d": "${.c}", "e": "${..f}", "g": "${...h}", "i": "${...a.f}", "j": "${....h}"}, "f": 3},
        "h": 4,
    },
    {"a": [1, 2, "${.0}", "${..b}"], "b": 5, "c": "${a.1}", "d": "${a[3]}", "e": "${a.7}"},
    {"a": [{"b": 1, "c": "${.b}", "d": "${..1.b}", "e": "${...f}"}, {"b": 2}], "f": 3},
    "k: b\na: {b: 1}\nc: ${a.${k}}\nd: ${a.${x}}\ne: ${a[${k}]}\n",
    "k: x\na: {b: 1}\nc: ${a.${k}}\n",
    {"a": "${b}", "b": {"c": 1, "d": "${.c}"}, "e": "${a.c}", "f": "${a.d}", "g": "${a.x}"},
    {"a": "${b.c}", "b": {"c": "${d}"}, "d": 7},
    {
        "a": "???",
        "b": "${a}",
        "c": {"d": "???", "e": "${.d}", "f": "${.d.e}"},
        "g": None,
        "h": "${g.x}",
        "i": {},
        "j": "${i.x}",
    },
    "a: 1\nb: \\${a}\nc: \\\\${a}\n",
    "base: &base\n  x: 1\n  y: ${.x}\na: *base\nb:\n  <<: *base\n  x: 2\nc: ${b.y}\nd: ${a.y}\n",
    "low: &low\n  x: ${..y}\na:\n  y: 2\n  z: *low\nb: ${a.z.x}\n",
    "a: yes\nb: ${a}\nc: 1e3\nd: ${c}\ne: 0x1f\nf: ${e}\ng: ~\nh: ${g}\n",
    "a: {b-c: 1, _d: 2}\ne: ${a.b-c}\nf: ${a._d}\ng: ${a.b_c}\n",
    "'a b': 1\n'c.d': 2\ne: {'1': 3}\nf: ${e.1}\n",
    "a: {b: 1}\nc: ${oc.env:NOT_THERE,${a.x}}\nd: ${oc.env:NOT_THERE,${a.b}}\n",
    {"a": {"b": "${..c}"}, "c": {"d": "${..a.e}"}},
    {"a": {"b": "${a}", "c": "${..d}"}, "d": "${a.c}", "e": "${e}"},
    {"a": 0, "b": {"a": "${d.b.a}"}, "d": {"b": "${d}", "a": 0}},
    {"b": {"a": "${d.b.a}"}, "d": {"b": "${d}"}},
    {"a": "${d.b.c}", "d": {"b": "${e}", "c": 1}, "e": "${d}", "f": "${e.c}"},
    "a: {1: x, true: y, 2.5: z}\nb: ${a.1}\nc: ${a.true}\nd: ${a.2}\n",
)


def nodes_below(node: Any) -> Any:
    """The interpolations of a loaded configuration: where they stand (the keys that lead there), and each node."""
    content = node._content
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, child in pairs:
        if child._is_interpolation():
            yield (key,), child
        elif isinstance(child, omegaconf.DictConfig | omegaconf.ListConfig) and not child._is_missing():
            for path, inner in nodes_below(child):
                yield (key, *path), inner


def compare(text: str) -> tuple[set[tuple[Any, ...]], set[tuple[Any, ...]]]:
    """The places at which an interpolation leads nowhere: as OmegaConf says, and as we do. What we know must agree."""
    run = read(text)
    asked = {key[0] for gap in run.gaps.values() for key in gap.asked if key not in run.led}
    refused, missing = set(), set()
    for path, node in nodes_below(load(text)):
        item = run.root.at(path).item
        if id(item.node) in asked:
            missing.add(path)
        try:
            value = node._dereference_node()
        except InterpolationToMissingValueError:
            assert item.kind is ItemKind.UNKNOWN
        except (InterpolationKeyError, OmegaConfBaseException, RecursionError) as error:
            if "not found" in str(error):
                refused.add(path)
            assert item.kind is not ItemKind.CONSTANT
        else:
            if item.kind is ItemKind.CONSTANT and isinstance(value, omegaconf.Node):
                assert item.value == value._value(), path
    return refused, missing


@pytest.mark.parametrize("config", CONFIGS, ids=[f"{number}" for number in range(len(CONFIGS))])
def test_interpolations_lead_where_omegaconf_says(config: str | dict[str, Any]) -> None:
    refused, missing = compare(config if isinstance(config, str) else yaml.safe_dump(config))
    assert missing <= refused, "never more than what the library refuses"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a: {b: {c: 3}}\ne: ${a.b.x}\nf: ${a.x.c}\ng: ${x.y}\n", 3),
        ("a:\n  b: 1\n  g: ${.x}\n  h: ${..x}\n", 2),
        ("a: [1]\ne: ${a.7}\n", 1),
        ("k: x\na: {b: 1}\nc: ${a.${k}}\nd: ${a.${y}}\n", 2),
        ("a: ${b}\nb: {c: 1}\ng: ${a.x}\n", 1),
    ],
)
def test_what_leads_nowhere_is_found(text: str, count: int) -> None:
    refused, missing = compare(text)
    assert missing == refused
    assert len(missing) == count


KEYS = st.sampled_from(["a", "b", "c", "d"])
LEAVES = st.one_of(
    st.integers(0, 9),
    st.sampled_from(["x", "y"]),
    st.builds(
        lambda dots, keys, around: around.format("${" + "." * dots + ".".join(keys) + "}"),
        st.integers(0, 3),
        st.lists(st.sampled_from(["a", "b", "c", "d", "0", "1"]), min_size=1, max_size=3),
        st.sampled_from(["{}", "{}", "p{}", "{}q"]),
    ),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(KEYS, inner, min_size=1, max_size=4), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=14,
)


@settings(max_examples=drawn(150))
@given(st.dictionaries(KEYS, TREES, min_size=1, max_size=4))
def test_any_configuration_is_read_as_omegaconf_reads_it(tree: dict[str, Any]) -> None:
    refused, missing = compare(yaml.safe_dump(tree))
    assert missing <= refused
