"""Checking never imports or runs what it reads, and loads only what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from conftest import Workspace

EXAMPLES = Path(__file__).parent.parent / "examples"


def imported(folder: Path, *arguments: str) -> set[str]:
    """The modules that `modellint check` imports in a process of its own."""
    command = [sys.executable, "-X", "importtime", "-m", "modellint", "check", *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_a_clean_example_loads_neither_torch_nor_libcst(example: str, tmp_path: Path) -> None:
    modules = imported(tmp_path, str(EXAMPLES / example / "fixed"), "--no-cache")
    assert {name.partition(".")[0] for name in modules} & {"torch", "libcst", "hyperpyyaml", "numpy"} == set()
    assert "modellint.linter" in modules


#: The rooms that are needed to tell what is remembered. Of a rule, what its folder says of it by itself; of the engine,
#: the names of its queries.
WARM_ROOMS = {
    *(
        "claims",
        "commands",
        "config",
        "edits",
        "flow",
        "folders",
        "frontends",
        "graph",
        "knowledge",
        "link",
        "operators",
        "pipeline",
    ),
    *("reading", "reporters", "results"),
}
ANALYSES = ("modellint.link.calls", "modellint.link.classes", "modellint.link.values", "modellint.flow.")
NAMES = {"modellint.flow.queries", "modellint.flow.queries.names"}


@pytest.mark.dear
def test_a_run_without_changes_loads_no_analysis(tmp_path: Path) -> None:
    arguments = (str(EXAMPLES), "--exit-zero", "--cache-dir", str(tmp_path))
    cold, warm = imported(tmp_path, *arguments), imported(tmp_path, *arguments)
    assert "modellint.flow.runs" in cold
    rooms = {name.split(".")[1] for name in warm if name.startswith("modellint.") and is_room(name.split(".")[1])}
    assert rooms <= WARM_ROOMS
    assert {name for name in warm if name.startswith(ANALYSES)} == NAMES
    assert {name for name in warm if name.startswith("modellint_rules.") and name.count(".") > 1} == set()


def is_room(name: str) -> bool:
    return (Path(modellint.__file__).parent / name).is_dir()


def test_notebooks_cost_nothing_where_there_are_none(tmp_path: Path) -> None:
    def of_notebooks() -> set[str]:
        return {name for name in imported(tmp_path, ".", "--no-cache") if name.startswith("modellint.notebook")}

    (tmp_path / "a.py").write_text("from torch import nn\n")
    (tmp_path / "a.yaml").write_text("a: !new:torch.nn.ReLU\n")
    assert of_notebooks() == set()
    (tmp_path / "a.ipynb").write_text('{"cells": []}')
    assert "modellint.notebook.reading" in of_notebooks()


def test_one_small_file_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from torch import nn\n\n\nclass A(nn.Module):\n    pass\n")
    modules = imported(tmp_path, "a.py", "--no-cache")
    heavy = {"yaml", "pathspec", "multiprocessing", "concurrent.futures", "importlib.metadata", "tomllib", "json"}
    assert modules & heavy == set()
    assert "modellint.config.confirming" not in modules, "only a table of these settings needs them"


def test_nothing_that_is_read_is_run(workspace: Workspace) -> None:
    marker = workspace.root / "marker"
    touch = f"open({str(marker)!r}, 'w').close()"
    workspace.write(
        {
            "evil.py": f"import torch.nn as nn\n{touch}\n\n\nclass A(nn.Module):\n    def __init__(self):\n"
            f"        self.embedding = nn.Embedding({touch}, 4, padding_idx=7)\n",
            "conftest.py": touch,
            "sitecustomize.py": touch,
            "torch/__init__.py": touch,
            "torch/nn/__init__.py": touch,
            "pyproject.toml": "[tool.modellint]\n",
            "hparams.yaml": f"a: !apply:os.system [touch {marker}]\nb: !new:evil.A\nc: !apply:evil.A\n"
            f"d: !!python/object/apply:os.system [touch {marker}]\ne: !include:other.yaml\n"
            "modules:\n  b: !ref <b>\n",
            "other.yaml": f"f: !applyref:os.system\n  command: touch {marker}\n",
            "train.py": f"from hyperpyyaml import load_hyperpyyaml\nimport evil\n{touch}\n"
            "hparams = load_hyperpyyaml(open('hparams.yaml'))\n",
        }
    )
    for arguments in (["."], [".", "--jobs", "2"], ["evil.py"], ["hparams.yaml"], ["train.py"]):
        assert workspace.check(*arguments, "--no-cache").code in (0, 1)
    subprocess.run([sys.executable, "-m", "modellint", "check"], cwd=workspace.root, check=False)
    assert not marker.exists()


def test_the_command_line_works_as_a_module_and_as_a_script(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("(")
    script = Path(sys.executable).with_name("modellint")
    for command in ([sys.executable, "-m", "modellint"], [str(script)]):
        result = subprocess.run(
            [*command, "check"], cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ}
        )
        assert (result.returncode, result.stderr) == (1, "")
        assert result.stdout.startswith("a.py:1:1: ML001[error]")
