"""What `modellint doctor` says of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from books import notebook

from modellint import __version__

if TYPE_CHECKING:
    from conftest import Workspace

SCRIPT = """\
import sys
from hyperpyyaml import load_hyperpyyaml
import speechbrain as sb


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.layer(batch) * self.hparams.scale


hparams = load_hyperpyyaml(open(sys.argv[1]))
Model(hparams["modules"], hparams=hparams)
"""
SUBMODULE = '[submodule "sb"]\n\tpath = sb\n\turl = https://github.com/somebody/speechbrain.git\n'
RECIPE = "scale: 2\nlayer: !new:torch.nn.Linear [80, 40]\nmodules:\n    layer: !ref <layer>\n"
MODEL = """\
import os
from pathlib import Path

import einops
import numpy as np
from timm.layers import Mlp, trunc_normal_
from torch import nn

from . import parts
from parts import Block
from parts.more import Rest


class Encoder(nn.Module):
    pass


class Wide(Mlp):
    pass


class Wider(Wide):
    pass


class Made(type("Base", (), {})):
    pass


class Plain:
    pass
"""


def unresolved(workspace: Workspace, *arguments: str) -> dict[tuple[str, str], Any]:
    told = workspace.run("doctor", *arguments, "--output-format", "json").json["unresolved"]
    return {(one["kind"], one["name"]): one for one in told}


def project(workspace: Workspace) -> None:
    workspace.write(
        {
            "model.py": MODEL,
            "parts/__init__.py": "class Block:\n    pass\n",
            "parts/more.py": "class Rest:\n    pass\n",
            "train.py": SCRIPT,
            "train.yaml": RECIPE,
            "alone/other.yaml": "a: !new:lab.nets.Net\n    b: 1\n",
            "conf.yaml": "a:\n  _target_: lab.nets.Net\n",
            "broken.py": "class (\n",
        }
    )


def test_what_is_known_of_a_project_is_told(workspace: Workspace) -> None:
    project(workspace)
    told = workspace.run("doctor", "--output-format", "json").json
    assert told["version"] == __version__
    assert told["inventory"] == {"layers": 1, "recipes": 2, "configurations": 1, "models": 0}
    assert told["files"] == 8
    assert (told["interpreter"], told["site_packages"]) == (None, [])
    assert {package["name"]: package["source"] for package in told["packages"]} == {
        "torch": "built-in facts",
        "speechbrain": "built-in facts",
    }
    assert told["recipes"] == [
        {"path": "alone/other.yaml", "scripts": [], "reason": "no script reads its keys"},
        {"path": "train.yaml", "scripts": ["train.py"], "reason": "the keys it reads (2 of 2)"},
    ]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "requirements.txt",
            "speechbrain==0.5.14\n",
            "speechbrain 0.5.4 to 0.5.16 (its names and parameters, as requirements.txt asks",
        ),
        ("requirements.txt", "speechbrain==0.4.0\n", "speechbrain (a release that is not known, says requirements.txt"),
        (
            ".gitmodules",
            SUBMODULE,
            "speechbrain (a fork or revision of it, says .gitmodules: its names are not judged)",
        ),
        ("speechbrain/__init__.py", "", "speechbrain (the project's own copy)"),
        ("requirements.txt", "speechbrain>=0.5\n", "speechbrain 1."),
    ],
)
def test_which_release_of_a_package_counts_is_told_once(workspace: Workspace, name: str, text: str, told: str) -> None:
    workspace.write({"train.yaml": RECIPE, name: text})
    assert any(told in line for line in workspace.run("doctor").lines)
    shown = workspace.run("check", "--exit-zero").out
    assert told in " ".join(shown.split())


def test_what_is_not_known_is_told_with_the_reason(workspace: Workspace) -> None:
    project(workspace)
    found = unresolved(workspace)
    packages = {name: one["users"] for (kind, name), one in found.items() if kind == "package"}
    assert packages == {
        "einops": ["model.py"],
        "numpy": ["model.py"],
        "timm": ["model.py"],
        "hyperpyyaml": ["train.py"],
        "lab": ["alone/other.yaml", "conf.yaml"],
    }
    assert found["class", "model.py::Wide"]["reason"] == (
        "its base `timm.layers.Mlp` cannot be read: whether it is a layer is not known"
    )
    assert found["class", "model.py::Made"]["reason"].startswith("a base of it is computed")
    assert ("class", "model.py::Wider") not in found
    assert ("class", "model.py::Plain") not in found
    assert found["file", "broken.py"]["reason"].startswith("line 1: ")


def test_packages_of_the_interpreter_are_known(workspace: Workspace) -> None:
    project(workspace)
    packages = ".venv/lib/python3.11/site-packages"
    workspace.write(
        {
            ".venv/bin/python": "",
            f"{packages}/timm/__init__.py": "",
            f"{packages}/timm/layers.py": "from torch import nn\nclass Mlp(nn.Module):\n    pass\n\ntrunc_normal_ = 1",
            f"{packages}/einops/__init__.py": "",
            f"{packages}/numpy.py": "",
            f"{packages}/lab/__init__.py": "",
            f"{packages}/lab-2.1.dist-info/METADATA": "",
        }
    )
    found = unresolved(workspace)
    assert [name for kind, name in found if kind == "package"] == ["hyperpyyaml"]
    assert found["package", "hyperpyyaml"]["reason"] == "not installed for the interpreter"
    assert found["module", "lab.nets.Net"]["reason"] == "lab 2.1 is installed, but has no source that defines it"
    assert ("class", "model.py::Wide") not in found
    assert workspace.run("doctor", "--output-format", "json").json["inventory"]["layers"] == 3


def test_the_text_says_the_same(workspace: Workspace) -> None:
    project(workspace)
    result = workspace.run("doctor")
    assert result.code == 0
    assert "files: 8, with 1 layer class, 2 recipes, 1 configuration" in result.lines
    assert "  train.yaml: train.py, by the keys it reads (2 of 2)" in result.lines
    assert "  alone/other.yaml: no script (no script reads its keys)" in result.lines
    assert any("einops (1)" in line and "lab (2)" in line for line in result.lines)
    assert any(line.startswith("interpreter: none found: modellint reads only the project") for line in result.lines)
    workspace.write({"b/a.py": "import torch\n", "modellint.toml": 'python = "nowhere"\n'})
    assert any(
        line.endswith("nowhere, which does not exist: modellint reads only the project and its built-in facts")
        for line in workspace.run("doctor", "b").lines
    )
    assert workspace.run("doctor", "b").lines[-1] == "modellint resolves every name that the files use"


def test_notebooks_are_read_too(workspace: Workspace) -> None:
    workspace.write(
        {
            "book.ipynb": notebook(
                "%matplotlib inline\nimport einops\nfrom torch import nn\n\nclass A(nn.Module):\n    pass\n"
            )
        }
    )
    assert unresolved(workspace)["package", "einops"]["users"] == ["book.ipynb"]


def test_a_file_that_is_too_large_is_told(workspace: Workspace) -> None:
    workspace.write({"a.py": "x = 1\n" * 100, "modellint.toml": "max-file-size = 100\n"})
    assert "max-file-size" in unresolved(workspace)["file", "a.py"]["reason"]
