"""What the engine believes of values: the claims in `reveals/`, the command, and claims in examples of rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.config import settings_for
from modellint.flow.words import holds
from modellint.packs import RuleSet
from modellint.pipeline.reveals import claims_in, objections

if TYPE_CHECKING:
    from conftest import Workspace

FILES = sorted(Path(__file__).parent.glob("reveals/*.py"))
MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 4160)

    def forward(self, x):
        ids = self.head(x).argmax(-1)
        ids = ids + 1
        return ids, x, None
        ids = 3


def idle():
    if False:
        a = 1
    \"\"\"Nothing.\"\"\"
"""


def claimed(path: Path) -> dict[int, list[str]]:
    return claims_in(path.read_text("utf-8").splitlines())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_engine_believes_what_is_claimed(path: Path) -> None:
    settings = settings_for([path.parent], isolated=True)
    assert list(objections(path, claimed(path), settings, RuleSet({}, frozenset()), path.name)) == []


def test_enough_is_claimed() -> None:
    assert sum(len(made) for path in FILES for made in claimed(path).values()) > 300


@pytest.mark.parametrize(
    ("words", "is_true"),
    [
        ("ids below 4, sizes [2, n] or None", True),
        ("None or ids below 4, sizes [2, n]", True),
        ("ids below 4 or None", True),
        ("ids below 4", False),
        ("None", False),
        ("ids below 4 or None or 3", False),
        ("ids below 4, sizes [2] or None", False),
        ("never", False),
    ],
)
def test_words_may_leave_out_facets_and_no_alternative(words: str, is_true: bool) -> None:
    assert holds(words, (("ids below 4", "sizes [2, n]"), ("None",))) is is_true


def test_nothing_is_never() -> None:
    assert holds("never", ())
    assert not holds("unknown", ())


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        (
            "model.py:11",
            [
                "ids → ids below 4160, on the layer's device",
                "self.head(x) → real numbers, width 4160, on the layer's device",
                "x → argument x, on the layer's device",
            ],
        ),
        ("model.py:12", ["ids → ids below 4161, on the layer's device"]),
        ("model.py:12:ids + 1", ["ids + 1 → ids below 4161, on the layer's device"]),
        (
            "model.py:13",
            ["ids → ids below 4161, on the layer's device", "x → argument x, on the layer's device"],
        ),
        ("model.py:8:nn", ["nn → torch.nn"]),
        ("model.py:19", ["a → never"]),
    ],
)
def test_the_command_prints_what_is_believed(target: str, lines: list[str], workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL})
    result = workspace.run("reveal", target)
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == lines


@pytest.mark.parametrize("line", [1, 3, 14, 18, 20])
def test_a_line_without_values_is_told(line: int, workspace: Workspace) -> None:
    workspace.write({"model.py": MODEL})
    result = workspace.run("reveal", f"model.py:{line}")
    assert (result.code, result.out) == (0, "")
    told = "no value is assigned, passed or returned on this line, or it is never run"
    assert result.err == f"model.py:{line}: {told}\n"


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("model.py", "model.py: names no line; expected FILE:LINE or FILE:LINE:NAME"),
        ("model.py:0", "model.py:0: the file has no such line; expected one from 1 to 20"),
        ("model.py:21", "model.py:21: the file has no such line; expected one from 1 to 20"),
        ("model.py:12:idz", "model.py:12: no value is called `idz`; did you mean `ids`?"),
        ("model.py:12:nothing", "model.py:12: no value is called `nothing`; expected `ids`"),
        ("model.py:1:torch", "model.py:1: no value is called `torch`; the line has none"),
        ("model.py:cell 1:2", "model.py: is no notebook and has no cells; expected FILE:LINE"),
        ("nowhere.py:3", "nowhere.py: no such file; expected a line of a Python file or notebook"),
        ("folder:3", "folder: is a folder; expected a line of a Python file or notebook"),
        ("train.yaml:1", "train.yaml: is YAML, and only values in Python are revealed; expected a line of a Python"),
        ("notes.txt:1", "notes.txt: is no Python; expected a line of a Python file or notebook"),
        ("broken.py:1", "broken.py:1:7: "),
        ("book.ipynb:cell 7:1", "book.ipynb:cell 7: no such code cell; expected one of 2, 3"),
        ("book.ipynb:cell 2:9", "book.ipynb:cell 2:9: the cell has no such line; expected one from 1 to 2"),
    ],
)
def test_what_cannot_be_revealed_is_refused(target: str, error: str, workspace: Workspace) -> None:
    workspace.write(
        {
            "model.py": MODEL,
            "train.yaml": "a: 1\n",
            "notes.txt": "a\n",
            "broken.py": "class (\n",
            "folder/x.py": "",
            "book.ipynb": notebook("import torch\nsize = 4\n", "a = torch.zeros(size)\n"),
        }
    )
    result = workspace.run("reveal", target)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {error}")
    assert result.err.count("\n") == 1


def notebook(*sources: str) -> str:
    code = [{"cell_type": "code", "source": source} for source in sources]
    return json.dumps({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "# A tutorial"}, *code]})


def test_a_notebook_is_asked_by_cell(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("import torch\nsize = 4\n", "a = torch.zeros(size)\n")})
    result = workspace.run("reveal", "book.ipynb:cell 3:1", "--output-format", "json")
    assert result.json == {
        "path": "book.ipynb",
        "cell": 3,
        "line": 1,
        "values": [
            {"name": "a", "words": "tensor, sizes [4]", "alternatives": [["tensor", "sizes [4]"]]},
            {"name": "size", "words": "4", "alternatives": [["4"]]},
        ],
    }


def test_claims_in_examples_are_checked(workspace: Workspace) -> None:
    workspace.run("rules", "new", "no-bare-dropout")
    (example,) = workspace.root.glob("house_rules/*/good/*/model.py")
    code = example.read_text("utf-8")
    added = "\n\ndef drop(x):\n    a = 3 * 4  # reveal: {}\n    return a\n"
    example.write_text(code + added.format("a -> 12; 3 * 4 → 12  # nothing else"), encoding="utf-8")
    assert workspace.run("test-rules", "house_rules").code == 0
    example.write_text(code + added.format("a → 11; b → 3; a is 12"), encoding="utf-8")
    result = workspace.run("test-rules", "house_rules")
    assert result.code == 1
    line = len(code.splitlines()) + 4
    assert [text.partition(f"model.py:{line}: ")[2] for text in result.lines[1:-1]] == [
        "`a` is expected to be `11`, and is `12`",
        "no value is called `b`; expected `a`",
        "`a is 12` claims nothing; expected `NAME → WORDS`",
    ]


def test_claims_about_shapes_are_checked(tmp_path: Path) -> None:
    code = (
        "import torch\n\n\ndef f(x):\n    a, b = torch.zeros(2, 3), torch.ones(4)\n    n = 3\n"
        "    c = a.T\n    return c @ a\n"
    )
    (tmp_path / "model.py").write_text(code)
    claims = {
        5: ["a → [2, 3] float32", "b -> [4]", "b → [5]", "[2, 3]", "torch.ones(4) → [4] float32", "d → [1]"],
        6: ["n → 3", "[3]"],
        7: ["[3, 2]", "[3, 2] float32", "[3, 2] int64", "c → [2, 3]", "a → [2, 3]"],
        8: ["[3, 3] float32", "return → [3, 3]"],
    }
    settings = settings_for([tmp_path], isolated=True)
    assert list(objections(tmp_path / "model.py", claims, settings, RuleSet({}, frozenset()), "model.py")) == [
        "model.py:5: `b` is expected to be `[5]`, and is `[4] float32`",
        "model.py:5: `[2, 3]` is claimed, and the line assigns or returns `a`, `b`; expected `NAME → [2, 3]`",
        "model.py:5: no tensor is called `d`; expected `a`, `b`",
        "model.py:6: `[3]` is claimed, and the line assigns or returns no tensor",
        "model.py:7: `c` is expected to be `[3, 2] int64`, and is `[3, 2] float32`",
        "model.py:7: `c` is expected to be `[2, 3]`, and is `[3, 2] float32`",
    ]
