"""Layers of scripts that no file can import: only their own programs move them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

SCRIPT = """\
import torch
from helpers import prepare
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 3)

    def forward(self, x):
        return self.rnn(x, torch.zeros(1, x.size(1), 3))


net = Net()
net(prepare(torch.rand(5, 2, 3)))
"""
HELPERS = "def prepare(x):\n    return x{}\n"
ANOTHER = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda()\n"


@pytest.mark.parametrize(
    ("name", "files", "severity"),
    [
        ("1_train.py", {}, "info"),
        ("1-train.py", {}, "info"),
        ("train.py", {}, "warning"),  # any file may import it
        ("1_train.py", {"helpers.py": HELPERS.format(".cuda()")}, "warning"),
        ("1_train.py", {"helpers.py": "from far import prepare\n", "far.py": HELPERS.format(".cuda()")}, "warning"),
        ("1_train.py", {"all.py": "import runpy\n\nrunpy.run_path('1_train.py')\n"}, "warning"),
        ("1_train.py", {"helpers.py": "from far import *\n"}, "warning"),
    ],
)
def test_only_its_own_program_moves_a_layer_that_no_file_can_import(
    workspace: Workspace, name: str, files: dict[str, str], severity: str
) -> None:
    workspace.write({name: SCRIPT, "helpers.py": HELPERS.format(""), "another.py": ANOTHER, **files})
    found = workspace.run("check", "--output-format", "json", "--select", "ML211", "--no-cache").json["findings"]
    assert [(finding["path"], finding["severity"]) for finding in found] == [(name, severity)]
