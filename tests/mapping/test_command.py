"""`modellint map`: what it takes, where it writes, and what it says to bad input."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mapped import PROJECT

if TYPE_CHECKING:
    from conftest import Workspace

ROOT = Path(__file__).parent.parent.parent


def test_the_map_goes_to_a_file_if_one_is_named(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    result = workspace.run(
        "map", "hparams.yaml", "--output-format", "html", "--output-file", "map.html", "--color", "always"
    )
    assert (result.code, result.out, result.err) == (0, "", "")
    assert (workspace.root / "map.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_file_gets_no_colours(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    workspace.write(PROJECT)
    workspace.run("map", "hparams.yaml", "--output-file", "map.txt")
    assert "\x1b" not in (workspace.root / "map.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.yaml"], "nowhere.yaml: no such file or folder"),
        (["nowhere.py::Model"], "nowhere.py: no such file or folder"),
        (["."], ".: is no model folder; expected a recipe (.yaml, .yml), a class (FILE.py::Class) or a model folder"),
        (["notes.txt"], "notes.txt: is neither Python nor YAML; expected a recipe"),
        (["model.py"], "model.py: a Python file; expected model.py::CLASS, and it defines `Block`, `Encoder`"),
        (["model.py::Encodr"], "model.py: no class is called `Encodr`; did you mean `Encoder`?"),
        (["model.py::Zzz"], "model.py: no class is called `Zzz`; it defines `Block`, `Encoder`"),
        (["model.py::"], "model.py: no class is called ``; it defines `Block`, `Encoder`"),
        (["empty.py::Model"], "empty.py: no class is called `Model`; it defines no class"),
        (["hparams.yaml::Model"], "hparams.yaml: a recipe has no class `Model`"),
        (["plain.yaml"], "plain.yaml:1: no HyperPyYAML recipe; expected a mapping with tags"),
        (["broken.yaml"], "broken.yaml:3:1: "),
        (["broken.py::Model"], "broken.py:2:"),
        (["binary.py::Model"], "binary.py:1:"),
        (["hparams.yaml", "--output-format", "svg"], "Invalid value for '--output-format'"),
        (["hparams.yaml", "--config", "nowhere.toml"], "nowhere.toml: no such configuration file"),
        (["hparams.yaml", "--python", "nowhere/python"], "--python: nowhere/python: no such file"),
        (["hparams.yaml", "--output-file", "no/such/folder/map.txt"], "--output-file: no/such/folder/map.txt"),
        ([], "missing argument"),
        (["hparams.yaml", "other.yaml"], "unexpected extra argument"),
    ],
)
def test_bad_input_is_2_and_says_what_was_expected(workspace: Workspace, arguments: list[str], said: str) -> None:
    workspace.write(
        {
            **PROJECT,
            "notes.txt": "x",
            "empty.py": "",
            "plain.yaml": "a: 1\n",
            "broken.yaml": "a: !new:b.C\nb: [\n",
            "broken.py": "class Model:\n    def (\n",
            "binary.py": b"\x00\xff",
        }
    )
    result = workspace.run("map", *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    "recipe",
    [
        "a: !ref <b>\nb: !ref <a>\nmodules: !ref <a>\n",
        "a: !include:hparams.yaml\nmodules:\n    a: !ref <a>\n",
        "a: !include:nowhere.yaml\nmodules:\n    a: !ref <a>\n",
        "modules: !new:torch.nn.Linear\n    in_features: !ref <nothing>\n    out_features: {a: [1]}\n",
        "modules: [!new:torch.nn.Linear [1]]\n? [1, 2]\n: !new:torch.nn.Linear\n",
        "a: &a [!new:torch.nn.Linear [3, 4]]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nmodules: {c: [*c, *c, *c]}\n",
        "a: &a [!new:torch.nn.Linear [3, 4]]\n"
        + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghijkl"))
        + "model: !new:torch.nn.ModuleList [*l]\nmodules: {model: !ref <model>}\n",
        "- !new:torch.nn.Linear\n- 3\n",
        "!new:torch.nn.Linear\n",
    ],
)
def test_recipes_that_cannot_load_have_a_map_or_an_error(workspace: Workspace, recipe: str) -> None:
    workspace.write({"hparams.yaml": recipe, "train.py": PROJECT["train.py"]})
    for output_format in ("table", "json", "dot", "mermaid", "html"):
        result = workspace.run("map", "hparams.yaml", "--output-format", output_format)
        assert result.code in (0, 2)
        assert "Traceback" not in result.err


def test_paths_are_relative_to_the_working_directory(workspace: Workspace) -> None:
    workspace.write({f"deep/{name}": text for name, text in PROJECT.items()})
    with workspace.inside("deep"):
        assert workspace.run("map", "hparams.yaml").lines[0] == "hparams.yaml"
    assert workspace.run("map", "deep/hparams.yaml").lines[0] == "deep/hparams.yaml"
    absolute = str(workspace.root / "deep" / "hparams.yaml")
    assert workspace.run("map", absolute).lines[0] == "deep/hparams.yaml"


def test_the_configured_pairing_counts(workspace: Workspace) -> None:
    workspace.write({f"a/{name}": text for name, text in PROJECT.items() if name != "train.py"})
    workspace.write({"b/learn.py": PROJECT["train.py"], "modellint.toml": '[recipes]\n"a/*.yaml" = "b/learn.py"\n'})
    assert workspace.run("map", "a/hparams.yaml").lines[1] == "ASR in b/learn.py, found by the configuration"
    told = workspace.run("map", "a/hparams.yaml", "--isolated").lines[1]
    assert told == "ASR in b/learn.py, found by the keys it reads (7 of 7)"


def test_help_shows_examples(workspace: Workspace) -> None:
    result = workspace.run("map", "--help")
    assert result.code == 0
    assert "modellint map hparams/train.yaml --output-format html --output-file map.html" in result.out
    assert "modellint map model.py::Encoder --output-format json" in result.out


def test_checking_does_not_load_maps(tmp_path: Path) -> None:
    for name, text in PROJECT.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-X", "importtime", "-m", "modellint", "check", "--no-cache", "--exit-zero"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in result.stderr.splitlines()}
    assert "modellint.linter" in loaded
    assert not [name for name in loaded if name.startswith("modellint.mapping")]


def test_the_page_shows_what_comes_out(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs/map.md").read_text("utf-8")
    (shown,) = re.findall(r"^```text\n\$ modellint map (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(ROOT)
    assert workspace.run("map", shown[0]).out == shown[1]
