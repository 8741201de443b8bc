"""Recipes, built with HyperPyYAML as far as a claim needs them: what their `modules` hold, and what stays behind."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from served import served

from modellint.claims.recipes import NoModule, NotMoved
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.claims import Claim
    from modellint.finding import Verdict

pytest.importorskip("hyperpyyaml")

LAYERS = """
import torch
from torch import nn


class Missing(nn.Module):
    def __init__(self, *parts):
        super().__init__()
        raise OSError("no connection to the hub")


class Holder(nn.Module):
    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)


class Searcher:
    def __init__(self, *parts):
        self.parts = parts


class Statistics(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(4)


def tell(*_):
    raise SystemExit("this was run")
"""
RECIPE = """
folder: !PLACEHOLDER
width: 4
__seed: !apply:layers.tell [!ref <width>]
logger: !new:layers.Missing
encoder: !new:torch.nn.Linear
    in_features: !ref <width>
    out_features: 5
head: !new:torch.nn.Linear
    in_features: 5
    out_features: 6
{extra}
modules:
    encoder: !ref <encoder>
{entries}
"""


def verdicts(folder: Path, key: str, entries: str = "", extra: str = "") -> dict[type[Claim], Verdict]:
    """What claims about `key` of a recipe come to, by their kind."""
    (folder / "layers.py").write_text(LAYERS)
    recipe = folder / "hparams.yaml"
    recipe.write_text(RECIPE.format(extra=extra, entries=entries))
    target = Target(recipe)
    place = Place(recipe.as_posix(), Span(1, 1, 1, 1))
    kinds = (NotMoved, NoModule)
    probes = tuple((number, Probe(target, kind(place, key))) for number, kind in enumerate(kinds))
    found = answer(Group(target, probes), served())
    return {kind: found[number] for number, kind in enumerate(kinds)}


def test_a_layer_that_modules_lack_stays_behind(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "head")
    assert found[NotMoved].status is Status.CONFIRMED, found
    assert found[NotMoved].device == "fake"
    detail = found[NotMoved].detail or ""
    assert "`head.weight`, `head.bias` stayed on `cpu`" in detail
    assert "found at least two devices, cuda:0 and cpu" in detail
    assert "placeholders filled: folder" in detail
    assert found[NoModule].status is Status.CONFIRMED
    assert "AttributeError: 'ModuleDict' object has no attribute 'head'; `modules` has `encoder`" in str(
        found[NoModule].detail
    )


@pytest.mark.parametrize("entry", ["head: !ref <head>", "all: !new:layers.Holder [!ref <head>]"])
def test_a_layer_that_modules_hold_moves(tmp_path: Path, entry: str) -> None:
    found = verdicts(tmp_path, "head", f"    {entry}")
    assert found[NotMoved].status is Status.REFUTED, found
    assert (found[NoModule].status is Status.REFUTED) == entry.startswith("head")


@pytest.mark.parametrize(("owner", "status"), [("Holder", Status.REFUTED), ("Searcher", Status.CONFIRMED)])
def test_a_layer_among_the_arguments_of_an_object(tmp_path: Path, owner: str, status: Status) -> None:
    extra = f"owner: !new:layers.{owner}\n    - !new:layers.Holder\n        - !new:torch.nn.Linear [4, 4]"
    found = verdicts(tmp_path, "owner[0][0]", "    owner: !ref <owner>", extra)
    assert found[NotMoved].status is status, found


def test_a_layer_inside_of_another_key(tmp_path: Path) -> None:
    extra = "models:\n    head: !new:torch.nn.Linear [4, 4]"
    found = verdicts(tmp_path, "models[head]", extra=extra)[NotMoved]
    assert found.status is Status.CONFIRMED, found
    assert "`models[head].weight`, `models[head].bias` stayed" in str(found.detail)
    held = verdicts(tmp_path, "models[head]", "    head: !ref <models[head]>", extra)[NotMoved]
    assert held.status is Status.REFUTED, held


def test_what_holds_a_layer_without_being_one_moves_nothing(tmp_path: Path) -> None:
    extra = "searcher: !new:layers.Searcher [!ref <encoder>, !ref <head>]"
    found = verdicts(tmp_path, "searcher", extra=extra)[NotMoved]
    assert found.status is Status.CONFIRMED, found
    assert "`searcher.parts[1].weight`, `searcher.parts[1].bias` stayed" in str(found.detail)


def test_a_layer_that_cannot_be_built_hinders_only_what_it_was_to_hold(tmp_path: Path) -> None:
    aside = verdicts(tmp_path, "head", "    hub: !new:layers.Missing [!ref <width>]")
    assert {verdict.status for verdict in aside.values()} == {Status.CONFIRMED}, aside
    assert "not built: layers.Missing" in str(aside[NotMoved].detail)
    around = verdicts(tmp_path, "head", "    hub: !new:layers.Missing [!ref <head>]")[NotMoved]
    assert around.status is Status.UNCONFIRMED, around
    assert "`head` is passed to `layers.Missing`, which could not be built" in str(around.detail)
    assert "no connection to the hub" in str(around.detail)
    within = verdicts(tmp_path, "hub", extra="hub: !new:layers.Missing")[NotMoved]
    assert within.status is Status.UNCONFIRMED
    assert "no connection to the hub" in str(within.detail)


def test_plain_tensors_stay_wherever_their_layer_goes(tmp_path: Path) -> None:
    found = verdicts(tmp_path, "statistics", extra="statistics: !new:layers.Statistics")[NotMoved]
    assert found.status is Status.UNCONFIRMED, found


#: Registers an operator, which cannot be done twice, and has a function that a pretended device is not enough for.
LIBRARY = """\
import torch

loaded = torch.library.Library("library_of_a_test", "DEF")


def smallest(width):
    filters = torch.rand(width, width)
    if (filters.max(dim=0).values == 0.0).any():
        raise ValueError
    return filters
"""


def test_a_library_that_was_loaded_is_loaded_no_second_time_and_may_fail_when_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    from modellint.confirm.worker.standins import StandIns

    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "native_library.py").write_text(LIBRARY)
    (packages / "user_of_it.py").write_text("import native_library\nimport package_that_nobody_has\n")
    monkeypatch.syspath_prepend(packages)
    stand_ins = StandIns()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    stand_ins.install()
    stand_ins.module("user_of_it")
    assert stand_ins.names == ["package_that_nobody_has"]
    library = stand_ins.module("native_library")
    with FakeTensorMode(), pytest.raises(RuntimeError):
        stand_ins.importing(lambda: library.smallest(4))
    assert stand_ins.names == ["package_that_nobody_has"], "it was loaded, though it failed"
    for name in ("native_library", "user_of_it", "package_that_nobody_has"):
        del sys.modules[name]
