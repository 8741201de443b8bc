"""Imports of modules that torch does not have: told where nothing else decides whether they run (ML506)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

IMPORT = "from torch._six import inf"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"import torch\n{IMPORT}\n", [2]),
        ("import torch._six as six, torch.nn as nn\n", [1]),
        (f"import torch\ntry:\n    {IMPORT}\nfinally:\n    x = torch.ones(1)\n", [3]),
        (f"import torch\nif torch.cuda.is_available():\n    {IMPORT}\nelse:\n    {IMPORT}\n", [3]),
        (f"import torch\ntry:\n    {IMPORT}\nexcept ImportError:\n    from torch import inf\n", []),
        (f"import torch\nif torch.__version__ < '2':\n    {IMPORT}\nelse:\n    from torch import inf\n", []),
        (f"import torch\nTEXT = '''\n{IMPORT}\n'''\n", []),
        ("from torch._C import default_generator\nfrom torch.nn.modules.utils import _pair\n", []),
        ("from .torch._six import inf\nfrom torchvision._six import inf as other\nimport torch\n", []),
    ],
)
def test_a_missing_module_is_told_where_it_is_surely_imported(
    workspace: Workspace, text: str, lines: list[int]
) -> None:
    workspace.write({"model.py": text})
    found = workspace.run("check", "--output-format", "json", "--select", "ML506", "--no-cache").json["findings"]
    assert [(one["line"], one["severity"]) for one in found] == [(line, "warning") for line in lines]


@pytest.mark.parametrize(("wanted", "count"), [("torch==1.8.1", 0), ("torch>=1.8", 1), ("numpy", 1)])
def test_the_requirements_decide(workspace: Workspace, wanted: str, count: int) -> None:
    workspace.write({"model.py": f"import torch\n{IMPORT}\n", "requirements.txt": f"{wanted}\n"})
    found = workspace.run("check", "--output-format", "json", "--select", "ML506", "--no-cache").json["findings"]
    assert len(found) == count
