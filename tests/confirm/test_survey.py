"""`modellint probe --all`: every target below paths, and an expectation that is committed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """
import torch
from torch import nn


class Base(nn.Module):
    pass


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, {wide})
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        \"\"\"
        Args:
            x: (batch, time, 8)
        \"\"\"
        return self.out(self.layer(x))
"""
EXPECT = ("--expect", "probes.json")


def survey(workspace: Workspace, *arguments: str) -> tuple[int, str]:
    result = workspace.run("probe", "--all", *arguments)
    return result.code, result.out + result.err


@pytest.fixture
def expected(workspace: Workspace) -> Workspace:
    workspace.write({"a/model.py": MODEL.format(wide=16), "b/other.py": MODEL.format(wide=16), "c/plain.py": "x = 1\n"})
    code, out = survey(workspace, *EXPECT, "--write-expectation")
    assert code == 0, out
    return workspace


def test_classes_with_a_forward_are_probed(expected: Workspace) -> None:
    targets = json.loads((expected.root / "probes.json").read_text())["targets"]
    assert list(targets) == ["a/model.py::Encoder", "b/other.py::Encoder"]
    assert targets["a/model.py::Encoder"]["shapes"] == "passed"
    code, out = survey(expected, *EXPECT)
    assert code == 0
    assert out.splitlines()[-2:][0] == "as expected"


def test_a_check_that_fails_now_fails_the_run(expected: Workspace) -> None:
    expected.write({"a/model.py": MODEL.format(wide=17)})
    code, out = survey(expected, *EXPECT)
    assert code == 1
    assert "worse: a/model.py::Encoder: shapes: failed, expected passed" in out
    assert "b/other.py::Encoder: shapes" not in out
    result = expected.run("probe", "--all", *EXPECT, "--output-format", "json").json
    assert any(one["check"] == "shapes" and one["is_worse"] for one in result["differences"])


def test_a_failure_that_is_expected_fails_nothing_and_its_end_is_told(expected: Workspace) -> None:
    expected.write({"a/model.py": MODEL.format(wide=17)})
    survey(expected, *EXPECT, "--write-expectation")
    assert survey(expected, *EXPECT)[0] == 0
    expected.write({"a/model.py": MODEL.format(wide=16)})
    code, out = survey(expected, *EXPECT)
    assert code == 0
    assert "changed: a/model.py::Encoder: shapes: passed, expected failed" in out


def test_other_folders_are_not_missed_and_targets_that_are_gone_are_told(expected: Workspace) -> None:
    assert "b/other.py" not in survey(expected, "a", *EXPECT)[1]
    (expected.root / "b/other.py").unlink()
    code, out = survey(expected, *EXPECT)
    assert code == 0
    assert "changed: b/other.py::Encoder: is gone" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--all", "--expect", "nowhere.json"),
            "No such file or directory; `--write-expectation` makes one",
        ),
        (("--all", "--expect", "bad.json"), "bad.json:1:"),
        (("--all", "--expect", "other.json"), "expected an object with `version` 1"),
        (("--all", "--write-expectation"), "expected `--expect FILE` beside it"),
        (("a/model.py::Encoder", "--expect", "bad.json"), "are about --all"),
        (("--all", "empty"), "no class of layers, recipe or model folder in empty"),
        ((), "0 targets; expected one, or --all with paths"),
    ],
)
def test_bad_input_is_refused(workspace: Workspace, arguments: tuple[str, ...], said: str) -> None:
    workspace.write({"a/model.py": MODEL.format(wide=16), "bad.json": "{", "other.json": "{}", "empty/x.py": ""})
    result = workspace.run("probe", *arguments)
    assert result.code == 2
    assert said in result.err
