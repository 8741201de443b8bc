"""Mistakes in configurations are what the real LightningCLI refuses: written ones, random ones and mutants."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from dialects.cli import configs
from dialects.cli.judge import refusals, write_project
from dialects.cli.mutants import mutants
from dialects.cli.random_configs import random_configs

import modellint
from modellint.dialects.lightning_cli.gate import read_checked
from modellint.dialects.lightning_cli.refusing import faults_of
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.dialects.lightning_cli.faults import Fault

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("lightning") is None and not os.environ.get("CI"), reason="lightning is not installed"
)
#: So much of what LightningCLI refuses is told, at least.
LEAST = 0.95


def told(root: Path, asked: Sequence[tuple[str, str]]) -> list[list[Fault]]:
    """The faults of configurations, each with its program, in a project whose page names all of them."""
    write_project(root)
    lines = [f"python {program}.py fit --config c{number}.yaml\n" for number, (program, _) in enumerate(asked)]
    (root / "README.md").write_text("".join(lines), encoding="utf-8")
    for number, (_, text) in enumerate(asked):
        (root / f"c{number}.yaml").write_text(text, encoding="utf-8")
    project = Project(ProjectOptions(root=root, python=Path(sys.executable)))
    found = []
    for number in range(len(asked)):
        path = root / f"c{number}.yaml"
        recipe = read_checked(path, path.read_bytes(), project)
        found.append([] if recipe is None else list(faults_of(recipe, project)))
    return found


def is_refused(faults: Sequence[Fault]) -> bool:
    return any(not fault.is_kept for fault in faults)


def compare(root: Path, asked: Sequence[tuple[str, str]]) -> tuple[list[str], list[str], int]:
    """The configurations that are refused though the library takes them, those the other way round, and all refused."""
    (root / "real").mkdir()
    write_project(root / "real")
    errors = refusals(root / "real", asked)
    (root / "read").mkdir()
    false, missed = [], []
    for (_, text), error, faults in zip(asked, errors, told(root / "read", asked), strict=True):
        if not error and is_refused(faults):
            false.append(f"{text}\n{faults}")
        elif error and not faults:
            missed.append(f"{text}\n{error}")
    return false, missed, sum(map(bool, errors))


def test_right_configurations_are_taken(tmp_path: Path) -> None:
    asked = [("plain", text) for text in configs.PLAIN.values()]
    asked += [("linked", text) for text in configs.LINKED.values()]
    assert len(asked) >= 40
    false, missed, refused = compare(tmp_path, asked)
    assert (false, missed, refused) == ([], [], 0)


@pytest.mark.long
def test_random_configurations_are_refused_as_the_library_does(tmp_path: Path) -> None:
    dice = random.Random(5)
    asked = [("plain", text) for text in random_configs(150, dice)]
    false, missed, refused = compare(tmp_path, asked)
    assert false == []
    assert 20 < refused < 130
    assert len(missed) <= (1 - LEAST) * refused, missed


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_mutants_are_told(tmp_path: Path, seed: int) -> None:
    asked = [("plain", text) for _, text in mutants(configs.PLAIN, 150, seed)]
    asked += [("linked", text) for _, text in mutants(configs.LINKED, 60, seed)]
    false, missed, refused = compare(tmp_path, asked)
    assert false == []
    assert refused > 150
    assert len(missed) <= (1 - LEAST) * refused, missed


def test_findings_name_the_program(tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / "README.md").write_text("`python plain.py fit -c one.yaml`\n", encoding="utf-8")
    (tmp_path / "one.yaml").write_text(configs.MODEL + "trainer: {max_epoch: 3}\n", encoding="utf-8")
    found = modellint.check([tmp_path], isolated=True, cache=False, python=sys.executable)
    assert [(one.code, one.symbol) for one in found] == [("ML403", "max_epoch")]
    assert "`plain.py` loads the file, by a command in README.md" in found[0].evidence
    assert found[0].help == "did you mean `max_epochs`?"
