"""What is confirmed is the code that a finding is about, wherever its lines have gone since it was checked."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from served import SERVERS

import modellint
from modellint.claims import as_json, from_json
from modellint.config import settings_for
from modellint.confirm.confirmer import Confirmer, Wishes
from modellint.confirm.worker.places import definitions
from modellint.finding import Status
from modellint.packs import select_rules

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import sys

import torch
from torch import nn
"""
KEPT = """

class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return torch.relu(x).sum()
"""
LOST = """

class Lost(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return torch.relu(x).frobnicate()
"""
CODE = HEAD + KEPT + LOST
TWICE = (
    LOST.replace("Lost", "Other")
    .replace(".frobnicate()", ".sum()")
    .replace("[nn.", "nn.ModuleList([nn.")
    .replace("4)]", "4)])")
)
INNER = f"""

class Outer(nn.Module):
{"".join(f"    {line}" if line.strip() else line for line in LOST.lstrip().splitlines(keepends=True))}
    def __init__(self):
        super().__init__()
        self.inner = Outer.Lost()

    def forward(self, x):
        return self.inner(x)
"""


def branches(test: str) -> str:
    """A class of one name in two branches, of which the second loses its layers."""
    lost = "".join(f"    {line}" if line.strip() else line for line in LOST.splitlines(keepends=True))
    return f"\n\nif {test}:{lost.replace('[nn.Linear(4, 4)]', 'nn.ModuleList([nn.Linear(4, 4)])')}\nelse:{lost}"


def statuses(path: Path, before: str, now: str) -> dict[str, tuple[Status, str]]:
    """What comes of the findings in a file, by rule, once something else has been written to it."""
    path.write_text(before)
    settings = settings_for([path], isolated=True)
    found = modellint.check([path], isolated=True, min_confidence="low", jobs=1, select=["ML204", "ML506"])
    assert [finding.code for finding in found] == ["ML204", "ML506"]
    path.write_text(now)
    judged = Confirmer(settings, select_rules(settings), Wishes(show_refuted=True), SERVERS)(found)
    return {finding.code: (finding.verdict.status, finding.verdict.detail) for finding in judged.findings}


@pytest.mark.parametrize(
    "now",
    [
        CODE,
        "\n" * 9 + CODE,
        HEAD + TWICE + KEPT + LOST,
        HEAD + LOST + KEPT,
        CODE.replace("class Lost(nn.Module):\n", "class Lost(nn.Module):\n    depth = 1\n\n"),
        CODE.replace("class Lost(nn.Module):\n", "def helper():\n    pass\n\n\nclass Lost(nn.Module):\n"),
    ],
    ids=["as it was", "blank lines", "a class above", "the other way round", "an attribute", "a function above"],
)
def test_lines_may_move(now: str, tmp_path: Path) -> None:
    found = statuses(tmp_path / "model.py", CODE, now)
    assert {status for status, _ in found.values()} == {Status.CONFIRMED}, found
    assert "`Lost.forward`: AttributeError" in found["ML506"][1]


@pytest.mark.parametrize(
    "now",
    [
        CODE.replace("self.layers = [nn", "self.heads = [nn"),
        CODE.replace("Lost", "Found"),
        HEAD + KEPT,
        "",
    ],
    ids=["another attribute", "another name", "no such class", "nothing"],
)
def test_what_has_changed_is_not_judged(now: str, tmp_path: Path) -> None:
    status, detail = statuses(tmp_path / "model.py", CODE, now)["ML204"]
    assert (status, detail) == (Status.UNCONFIRMED, "the code that it speaks of has changed since it was checked")


def test_what_was_repaired_meanwhile_is_refuted(tmp_path: Path) -> None:
    now = CODE.replace("[nn.Linear(4, 4)]\n", "nn.ModuleList([nn.Linear(4, 4)])\n")
    assert statuses(tmp_path / "model.py", CODE, f"\n{now}")["ML204"][0] is Status.REFUTED


def test_a_line_within_a_function_may_move_where_its_code_stands_there_once(tmp_path: Path) -> None:
    now = CODE.replace(".layers = [nn", ".depth = 1\n        self.layers = [nn")
    found = statuses(tmp_path / "model.py", CODE, now)
    assert {status for status, _ in found.values()} == {Status.CONFIRMED}, found


def test_a_class_in_a_class_is_itself(tmp_path: Path) -> None:
    before = HEAD + KEPT.replace("Kept", "Lost") + INNER
    found = statuses(tmp_path / "model.py", before, "\n\n" + before)
    assert {status for status, _ in found.values()} == {Status.CONFIRMED}, found
    assert "`Outer.Lost.forward`: AttributeError" in found["ML506"][1]


@pytest.mark.parametrize(
    ("test", "status"), [("sys.maxsize < 1", Status.CONFIRMED), ("sys.maxsize > 1", Status.UNCONFIRMED)]
)
def test_of_two_classes_of_one_name_the_one_that_is_run_is_judged(test: str, status: Status, tmp_path: Path) -> None:
    before = HEAD + branches(test)
    assert statuses(tmp_path / "model.py", before, f"\n\n{before}")["ML204"][0] is status


def test_definitions_are_known_by_their_dotted_name() -> None:
    code = ("class A:", " class B:", "  def f(self): pass", "def g():", " class B: pass")
    tree = ast.parse("\n".join((*code, "if x:", " class C: pass", "else:", " class C: pass")))
    lines = {name: [one.lineno for one in definitions(tree, name)] for name in ("A.B.f", "g.<locals>.B", "C", "B")}
    assert lines == {"A.B.f": [3], "g.<locals>.B": [5], "C": [7, 9], "B": []}


def test_what_a_claim_stands_in_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(CODE)
    (found,) = modellint.check([path], isolated=True, jobs=1, select=["ML204"])
    assert found.claim is not None
    assert [(anchor.name, anchor.text) for anchor in found.claim.anchors] == [("Lost.__init__", "self.layers")]
    assert from_json(as_json(found.claim)).anchors == found.claim.anchors
    assert as_json(replace(found.claim, anchors=())) == as_json(found.claim)[:-1]
