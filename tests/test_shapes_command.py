"""The command that prints shapes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        batch, _ = x.shape
        scores = self.head(x)
        return scores.softmax(-1)

    def size(self):
        return 3


def twice(x):
    return 2 * torch.zeros(3, 4)
"""


def test_each_line_is_shown_with_its_shape(workspace: Workspace) -> None:
    workspace.write({"net.py": MODEL})
    outcome = workspace.run("shapes", "net.py")
    assert outcome.code == 0
    assert outcome.out == (
        "net.py::Net.forward\n"
        "  10  x       [batch, 16]\n"
        "  12  scores  [batch, classes] float32\n"
        "  13  return  [batch, classes] float32\n"
        "\n"
        "net.py::twice\n"
        "  20  return  [3, 4] float32\n"
    )


def test_a_class_a_method_and_a_function_can_be_named(workspace: Workspace) -> None:
    workspace.write({"net.py": MODEL})
    for name in ("Net", "Net.forward"):
        assert "twice" not in workspace.run("shapes", f"net.py::{name}").out
    assert "Net" not in workspace.run("shapes", "net.py::twice").out


def test_json_has_a_value_for_each_line(workspace: Workspace) -> None:
    workspace.write({"net.py": MODEL})
    outcome = workspace.run("shapes", "net.py::twice", "--output-format", "json")
    value = {"function": "twice", "cell": None, "line": 20, "name": "return", "shape": "[3, 4]", "dtype": "float32"}
    assert json.loads(outcome.out) == {"path": "net.py", "values": [value]}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("other.py", "other.py: no such file; expected a Python file or a notebook"),
        (".", ".: is a folder; expected a Python file or a notebook"),
        ("net.py::Nets", "net.py::Nets: the file has no such class or function; did you mean `Net`?"),
        ("broken.py", "broken.py:1:5: "),
    ],
)
def test_a_target_that_cannot_be_shown_is_an_error(target: str, message: str, workspace: Workspace) -> None:
    workspace.write({"net.py": MODEL, "broken.py": "def (\n"})
    outcome = workspace.run("shapes", target)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""


def test_code_without_tensors_is_told(workspace: Workspace) -> None:
    workspace.write({"net.py": MODEL})
    outcome = workspace.run("shapes", "net.py::Net.size")
    assert (outcome.code, outcome.out) == (0, "")
    assert "no tensor is assigned or returned" in outcome.err


def test_lines_of_a_notebook_are_those_of_its_cells(workspace: Workspace) -> None:
    sources = ["import torch\n", "# Shapes\nx = torch.zeros(3, 4)\n", "y = x.sum(0)\n"]
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": one} for one in sources
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    workspace.write({"train.ipynb": json.dumps(book)})
    assert workspace.run("shapes", "train.ipynb").out == (
        "train.ipynb::<module>\n  2:2  x  [3, 4] float32\n  3:1  y  [4] float32\n"
    )
    values = json.loads(workspace.run("shapes", "train.ipynb", "--output-format", "json").out)["values"]
    assert [(one["cell"], one["line"], one["name"]) for one in values] == [(2, 2, "x"), (3, 1, "y")]


def test_only_an_expression_behind_return_is_returned(workspace: Workspace) -> None:
    code = (
        "import torch\n\n\ndef f():\n    a = torch.zeros(2)\n    b = a + 1\n    if b.sum() > 3:\n"
        "        return a, b[None]\n    return a\n"
    )
    workspace.write({"f.py": code})
    outcome = workspace.run("shapes", "f.py", "--output-format", "json")
    shown = [(one["line"], one["name"], one["shape"]) for one in json.loads(outcome.out)["values"]]
    assert shown == [
        (5, "a", "[2]"),
        (6, "b", "[2]"),
        (8, "return", "[2]"),
        (8, "return", "[1, 2]"),
        (9, "return", "[2]"),
    ]
