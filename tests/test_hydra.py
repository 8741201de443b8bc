"""A configuration is composed as Hydra composes it: the same files, the same keys and values, the same refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from effort import drawn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modellint.dialects.hydra import Composition, SearchPath, compose
from modellint.dialects.hydra_nodes import nodes_below
from modellint.graph.recipe import NodeKind
from modellint.link.project import Project, ProjectOptions
from modellint.reading.files import Files

hydra = pytest.importorskip("hydra")
from hydra.errors import HydraException  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modellint.dialects.omegaconf import Spot

MODELS = {
    "model/small.yaml": "_target_: torch.nn.Linear\nin_features: 4\nout_features: ${classes}\n",
    "model/large.yaml": "defaults:\n  - small\n  - _self_\nin_features: 8\n",
    "optim/adam.yaml": "lr: 0.1\n",
    "optim/sgd.yaml": "lr: 0.2\nmomentum: 0.9\n",
}

PROJECTS: dict[str, dict[str, str]] = {
    "a group": {**MODELS, "config.yaml": "defaults:\n  - model: small\n  - optim: adam\n  - _self_\nclasses: 3\n"},
    "own content first": {**MODELS, "config.yaml": "defaults:\n  - _self_\n  - optim: adam\noptim: {lr: 5}\n"},
    "own content last": {**MODELS, "config.yaml": "defaults:\n  - optim: adam\n  - _self_\noptim: {lr: 5, more: 1}\n"},
    "a file beside": {**MODELS, "config.yaml": "defaults:\n  - model: large\nclasses: 3\n"},
    "a package": {**MODELS, "config.yaml": "defaults:\n  - optim@a.b: adam\n  - optim@c: sgd\n"},
    "here": {**MODELS, "config.yaml": "defaults:\n  - optim@_here_: adam\n"},
    "the top": {**MODELS, "config.yaml": "defaults:\n  - optim@_global_: adam\n"},
    "several": {**MODELS, "config.yaml": "defaults:\n  - optim: [adam, sgd]\n"},
    "optional, not there": {**MODELS, "config.yaml": "defaults:\n  - optional optim: rmsprop\n  - model: small\n"},
    "not there": {**MODELS, "config.yaml": "defaults:\n  - optim: rmsprop\n"},
    "a file, not there": {**MODELS, "config.yaml": "defaults:\n  - base\n  - optim: adam\n"},
    "nothing": {**MODELS, "config.yaml": "defaults:\n  - optim: null\n  - model: small\n"},
    "an experiment": {
        **MODELS,
        "config.yaml": "defaults:\n  - model: small\n  - optim: adam\n  - experiment: fast\nclasses: 3\n",
        "experiment/fast.yaml": "# @package _global_\ndefaults:\n  - override /optim: sgd\noptim: {lr: 9}\nseed: 1\n",
    },
    "an experiment without a package": {
        **MODELS,
        "config.yaml": "defaults:\n  - optim: adam\n  - experiment: fast\n",
        "experiment/fast.yaml": "defaults:\n  - override /optim: sgd\nseed: 1\n",
    },
    "an override without a slash": {
        **MODELS,
        "config.yaml": "defaults:\n  - optim: adam\n  - experiment: fast\n",
        "experiment/fast.yaml": "# @package _global_\ndefaults:\n  - override optim: sgd\nseed: 1\n",
    },
    "an override of nothing": {**MODELS, "config.yaml": "defaults:\n  - optim: adam\n  - override model: small\n"},
    "an override too early": {
        **MODELS,
        "config.yaml": "defaults:\n  - optim: adam\n  - override optim: sgd\n  - model: small\n",
    },
    "an override of a package": {
        **MODELS,
        "config.yaml": "defaults:\n  - optim@x: adam\n  - override optim@x: sgd\n",
    },
    "chosen twice": {**MODELS, "config.yaml": "defaults:\n  - optim: adam\n  - optim: sgd\n"},
    "nested groups": {
        "config.yaml": "defaults:\n  - optim: adamw\n",
        "optim/adamw.yaml": "defaults:\n  - base/decay\n  - sched: cosine\n  - other@_here_: more\nlr: 1\n",
        "optim/base/decay.yaml": "weight_decay: 0.1\n",
        "optim/sched/cosine.yaml": "steps: 3\n",
        "optim/other/more.yaml": "eps: 2\n",
    },
    "an absolute group": {
        **MODELS,
        "config.yaml": "defaults:\n  - task: one\n",
        "task/one.yaml": "defaults:\n  - /optim: adam\n  - /optim@inner: sgd\nname: one\n",
    },
    "an absolute group at the top": {
        **MODELS,
        "config.yaml": "defaults:\n  - task: one\n",
        "task/one.yaml": "# @package _global_\ndefaults:\n  - /optim: adam\n  - /optim@x.y: sgd\nname: one\n",
    },
    "a package of a file": {"config.yaml": "defaults:\n  - g: a\n", "g/a.yaml": "# @package x.y\nk: 1\n"},
    "a comment before the package": {
        "config.yaml": "defaults:\n  - g: a\n",
        "g/a.yaml": "# A comment.\n# @package x\nk: 1\n",
    },
    "an empty line before the package": {"config.yaml": "defaults:\n  - g: a\n", "g/a.yaml": "\n#@package x\nk: 1\n"},
    "a group as a package": {"config.yaml": "defaults:\n  - g/h@_group_: a\n", "g/h/a.yaml": "k: 1\n"},
    "a choice by another": {
        **MODELS,
        "config.yaml": "defaults:\n  - optim: adam\n  - model: small\n  - both: ${model}_${optim}\n",
        "both/small_adam.yaml": "k: 1\n",
    },
    "a choice by nothing": {**MODELS, "config.yaml": "defaults:\n  - optim: adam\n  - both: ${modle}_x\n"},
    "a missing choice": {**MODELS, "config.yaml": "defaults:\n  - optim: ???\n"},
    "missing values": {
        **MODELS,
        "config.yaml": "defaults:\n  - optim: adam\n  - _self_\noptim:\n  lr: ???\n  eps: ???\n",
    },
    "a list is replaced": {
        "config.yaml": "defaults:\n  - g: a\n  - _self_\ng: {l: [3], m: 1, n: {x: 1}}\n",
        "g/a.yaml": "l: [1, 2]\nm: {y: 1}\nn: 2\n",
    },
    "an empty file": {"config.yaml": "defaults:\n  - g: a\nx: 1\n", "g/a.yaml": ""},
    "no list": {"config.yaml": "x: 1\ny: {z: [1, {w: 2}]}\n"},
    "a file that chooses itself": {"config.yaml": "defaults:\n  - g: a\n", "g/a.yaml": "defaults:\n  - /g@x: a\n"},
    "a list over a mapping": {
        "config.yaml": "defaults:\n  - g: a\n  - _self_\ng: {x: [1]}\n",
        "g/a.yaml": "x: {y: 1}\n",
    },
    "an empty defaults list": {"config.yaml": "defaults:\nx: 1\n"},
    "a defaults list that is a mapping": {**MODELS, "config.yaml": "defaults:\n  optim: adam\n"},
    "a key that Hydra lacks": {"config.yaml": "hydra:\n  run:\n    dirr: x\n"},
    "keys of Hydra": {"config.yaml": "x: 1\nhydra:\n  run:\n    dir: x\n  job:\n    name: y\n"},
    "a file of Hydra that is not there": {"config.yaml": "defaults:\n  - hydra: large\n"},
    "two keys in an entry": {**MODELS, "config.yaml": "defaults:\n  - {optim: adam, model: small}\n"},
}


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def ours(folder: Path, overrides: Mapping[str, str] | None = None, *added: str) -> Composition:
    project = Project(ProjectOptions(folder), Files())
    found = compose("config", SearchPath((folder,)), project, overrides=overrides or {}, added=added)
    assert found is not None
    return found


def theirs(folder: Path, *overrides: str) -> dict[str, Any] | None:
    """The configuration that Hydra composes; None if it refuses."""
    try:
        with hydra.initialize_config_dir(str(folder), version_base="1.3"):
            found = OmegaConf.to_container(hydra.compose("config", list(overrides)), resolve=False)
    except (HydraException, ValueError, RecursionError):
        return None
    assert isinstance(found, dict)
    return found


def value(spot: Spot) -> Any:
    """The content of a place, with interpolations as they are written."""
    if spot.node.kind is NodeKind.MAPPING:
        return {key: value(child) for key, child in spot.children.items()}
    if spot.node.kind is NodeKind.SEQUENCE:
        return [value(child) for child in spot.children.values()]
    return spot.node.scalar


@pytest.mark.parametrize("name", PROJECTS)
def test_the_same_is_composed_and_refused(tmp_path: Path, name: str) -> None:
    folder = written(tmp_path, PROJECTS[name])
    found, expected = ours(folder), theirs(folder)
    if expected is None:
        assert found.refusals or name == "a missing choice"
    else:
        assert found.refusals == ()
        assert {key: one for key, one in value(found.root).items() if key != "hydra"} == expected


def test_the_command_line_overrides_and_adds(tmp_path: Path) -> None:
    files = {
        **PROJECTS["a group"],
        "experiment/fast.yaml": "# @package _global_\ndefaults:\n  - override /optim: sgd\n",
    }
    folder = written(tmp_path, files)
    assert value(ours(folder, {"model": "large"}).root) == theirs(folder, "model=large")
    assert value(ours(folder, {}, "experiment/fast").root) == theirs(folder, "+experiment=fast")


GROUPS = st.sampled_from(("a", "b", "/a", "/b", "a/b", "/a/b"))
NAMES = st.sampled_from(("x", "y", "z", "null", "[x, y]", "${a}"))
PACKAGES = st.sampled_from(("", "", "", "@p", "@_here_", "@_global_", "@p.q", "@_group_"))
WORDS = st.sampled_from(("", "", "", "optional ", "override "))
ENTRIES = st.one_of(
    st.just("_self_"),
    st.builds("{}{}{}: {}".format, WORDS, GROUPS, PACKAGES, NAMES),
    st.builds("{}{}".format, st.sampled_from(("x", "b/x", "/a/x", "y")), PACKAGES),
)
CONTENTS = st.builds(
    lambda header, entries, keys: (
        f"{header}{'defaults:' if entries else ''}\n"
        + "".join(f"  - {entry}\n" for entry in entries)
        + "".join(f"{key}: {text}\n" for key, text in keys.items())
    ),
    st.sampled_from(("", "", "# @package _global_\n", "# @package r.s\n")),
    st.lists(ENTRIES, max_size=3),
    st.dictionaries(st.sampled_from(("k", "l", "a", "p")), st.sampled_from(("1", "{m: 1}", "{n: 2}", "???", "[1]"))),
)


@given(st.dictionaries(st.sampled_from(("x", "y", "a/x", "a/y", "b/x", "a/b/x", "a/b/y")), CONTENTS), CONTENTS)
@settings(max_examples=drawn(500), deadline=None, suppress_health_check=list(HealthCheck))
def test_any_files_are_composed_as_hydra_does(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str], primary: str
) -> None:
    folder = written(
        tmp_path_factory.mktemp("any"),
        {"config.yaml": primary, **{f"{name}.yaml": text for name, text in files.items()}},
    )
    try:
        expected = theirs(folder)
    except Exception:  # an error of Hydra's own: it recurses without end, or asserts
        return
    found = ours(folder)
    if expected is None:
        assert found.refusals or not found.is_whole
    elif found.is_whole:
        assert found.refusals == ()
        assert value(found.root) == expected


def test_the_keys_of_hydras_own_node_are_known() -> None:
    from hydra.conf import HydraConf

    pending: list[tuple[Any, list[str]]] = [(OmegaConf.structured(HydraConf), ["hydra"])]
    for node, keys in pending:
        known = nodes_below(keys)
        if known is not None:
            assert set(node) <= known.keys(), keys
            pending += [(node._get_node(key), [*keys, key]) for key in node if OmegaConf.is_dict(node._get_node(key))]
