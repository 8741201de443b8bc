"""The cost table: what it counts, and what it says of the source of modellint."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import cost
import house
import pytest
from effort import in_full
from one_rule import one_rule_lines

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = """\
from torch import nn


def made(rows):
    return nn.Embedding(rows, 4)


class Encoder(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.layers = [made(rows), made(rows)]

    def forward(self, x):
        return self.layers[0](x.argmax(-1)) + self.layers[1](x.argmax(-1))
"""
HOUSE = {
    "modellint/__init__.py": "",
    "modellint/flow/__init__.py": "",
    "modellint/flow/interp.py": (
        "from modellint.link import project\nif run.tensors is None or run.turns is not None: pass\n"
    ),
    "modellint/flow/grids.py": (
        "from . import interp\n"
        "def shared():\n    pass\n\n\n"
        "class Grids:\n    def sides(self):\n        return self.cells()\n\n    def cells(self):\n        pass\n"
    ),
    "modellint/flow/shared.py": "",
    "modellint/flow/typed.py": "",
    "modellint/link/__init__.py": "",
    "modellint/link/project.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from modellint.flow.typed import T\n    from modellint.flow.lowest import L\n"
        "class Project:\n"
        "    def grids(self):\n        from modellint.flow.grids import Grids\n"
        "    def lengths(self):\n        from modellint.flow.interp import Interpreter\n"
    ),
    "modellint/flow/lowest.py": "import modellint.link.project\n",
    "rules/__init__.py": "",
    "rules/ml901_one.py": (
        "from modellint.flow.grids import shared\nclass One:\n    x = lambda grids: (shared(), grids.sides())\n"
    ),
    "rules/ml902_two.py": "from modellint.flow import grids\nclass Two:\n    x = grids.shared()\n",
    "rules/ml903_three.py": "class Three:\n    x = lambda project: project.lengths\n",
}


@pytest.fixture(autouse=True)
def _one_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "FLOOR_REPETITIONS", 1)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def rows(table: str) -> dict[str, dict[str, str]]:
    """The cells of a Markdown table, by row and heading; numbers without their commas."""
    lines = [
        [cell.strip().replace(",", "") for cell in line.split("|")[1:-1]]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    return {line[0]: dict(zip(lines[0], line, strict=True)) for line in lines[2:]}


@in_full
def test_a_run_is_counted_and_compared_with_its_floor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = f"transformers-{cost.PACKAGES['transformers']}/transformers/models"
    layers = {f"{models}/{name}/modeling_{name}.py": LAYERS for name in ("a", "b", "c", "d", "e")}
    write(tmp_path, layers)
    monkeypatch.setattr(sys, "argv", ["cost.py", "tree", "--trees", str(tmp_path)])
    cost.main()
    found = rows(capsys.readouterr().out)
    whole, quarter = found["cold one process"], found["every 4th file cold one process"]
    assert {whole["files parsed"], quarter["files parsed"]} == {"5", "2"}
    # Three functions of each file, and the constructor of `nn.Embedding`; `made` is run for each of its calls.
    assert 5 * 3 < int(whole["by function"]) < int(whole["bodies run"])
    for kind in ("bodies run", "steps", "interpreters", "bodies lowered"):
        by_file, rest = divmod(int(whole[kind]) - int(quarter[kind]), 5 - 2)
        once = int(whole[kind]) - 5 * by_file  # what torch's own class is, found out for all files
        assert (rest, by_file > once >= 0) == (0, True), kind
    for row in ("cold two processes writing the cache", "warm one process"):
        assert float(found[row]["x `ast.parse`"]) > 0
        assert not found[row]["bodies run"]


@in_full
def test_recipes_are_compared_with_composing_and_parsing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clone = write(
        tmp_path / "clone", {"recipes/a/hparams.yaml": "a: !new:torch.nn.Linear [1, 2]\n", "recipes/a/train.py": LAYERS}
    )
    cost.recipes_table(clone, cost.Bench(tmp_path, 1, calls=True))
    out = capsys.readouterr().out
    assert "1 YAML and 1 Python files" in out
    assert int(rows(out)["cold one process"]["calls"]) > 10_000


def test_an_unknown_table_is_an_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["cost.py", "houses"])
    with pytest.raises(SystemExit):
        cost.main()
    assert "no table 'houses'; expected some of house, files" in capsys.readouterr().err


def test_cycles_of_imports_are_found(tmp_path: Path) -> None:
    found = house.read(write(tmp_path, HOUSE))
    every = ["modellint.flow.grids", "modellint.flow.interp", "modellint.flow.lowest", "modellint.link.project"]
    assert found.cycle(typing=True) == every
    assert found.cycle(typing=False) == [name for name in every if "lowest" not in name]
    assert len(found.cycle(typing=False, late=False)) == 1


def test_definitions_that_serve_one_rule_are_found(tmp_path: Path) -> None:
    """Also methods, and what only those call; what two rules reach serves both."""
    found = house.read(write(tmp_path, HOUSE))
    assert one_rule_lines(found) == {"ml901_one": 4, "ml903_three": 2}
    assert found.lines("modellint.flow.grids") == 11
    assert found.mode_tests() == {"modellint.flow.interp": 1}


def test_the_house_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cost.house_table(write(tmp_path, HOUSE))
    out = capsys.readouterr().out
    assert "| lines of `flow/` and `link/` that serve exactly one rule | 6 | ML901 4; ML903 2 |" in out
    assert "| largest import cycle, those for typing included | 4 | modellint.flow 3; modellint.link 1 |" in out
    with pytest.raises(FileNotFoundError, match="expected a checkout of modellint"):
        house.read(tmp_path / "rules")
