"""The benchmarks that compare: two revisions, a sample of unknown code, and mutants of the engine."""

from __future__ import annotations

import ast
import csv
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import beside
import power
import pytest
import shapes_observed
import unknown
from run import MEBIBYTE, Measurement

from modellint.graph.size import Size, Symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
MODEL = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 3)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
SHIFT = """\
import torch
from torch import nn


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return self.layer(x) + torch.ones(3)
"""
UNUSED = "self.layers = nn.ModuleList([nn.Linear(3, 3)])\n        self.spare = nn.Linear(3, 3)"


def run(script: str, *arguments: str, expected: int = 0, folder: Path | None = None) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / script), *arguments]
    variables = dict(os.environ) if folder is None else {**os.environ, "TMPDIR": str(folder)}
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=variables)
    assert result.returncode == expected, result.stdout + result.stderr
    return result.stdout if expected == 0 else result.stderr


# ---- a sample of unknown code


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "someone+project"
    folder.mkdir()
    (folder / "model.py").write_text(MODEL)
    return folder


def rows(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_finding_is_a_row_with_the_code_around_it(project: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    out = run("unknown.py", str(project), "--sheet", str(sheet), "--context", "1")
    assert "| someone/project | 1 | 12 | 1 | 0 | 0 |" in out
    assert "- someone/project: `model.py`" in out
    (row,) = rows(sheet)
    assert (row["path"], row["line"], row["code"], row["verdict"]) == ("model.py", "7", "ML204", "")
    assert row["around"].splitlines()[1] == ">    7         self.layers = [nn.Linear(3, 3)]"
    assert len(row["around"].splitlines()) == 3


def test_a_repository_is_checked_without_what_lies_around_it(project: Path, tmp_path: Path) -> None:
    (project / "model.py").write_text(SHIFT)
    (tmp_path / "train.py").write_text("def start(model):\n    return model.cuda()\n")
    sheet = tmp_path / "sheet.csv"
    run("unknown.py", str(project), "--sheet", str(sheet), folder=tmp_path)
    (row,) = rows(sheet)
    assert (row["path"], row["code"], row["severity"]) == ("model.py", "ML211", "info")
    assert "torch.ones(3)" in row["around"]


@pytest.mark.dear
def test_what_a_reader_wrote_stays_when_the_code_is_checked_again(project: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    run("unknown.py", str(project), "--sheet", str(sheet))
    (row,) = rows(sheet)
    missed = {**row, "line": "9", "code": "ML504", "verdict": "missed", "cause": "no rule asks"}
    elsewhere = {**row, "repository": "other/one", "verdict": "false", "cause": "guarded"}
    unknown.write(sheet, [{**row, "verdict": "true", "cause": ""}, missed, elsewhere])
    run("unknown.py", str(project), "--sheet", str(sheet))
    assert [(row["repository"], row["verdict"]) for row in rows(sheet)] == [
        ("other/one", "false"),
        ("someone/project", "true"),
        ("someone/project", "missed"),
    ]
    (project / "model.py").write_text(MODEL.replace("[nn.Linear(3, 3)]", "nn.ModuleList([nn.Linear(3, 3)])"))
    run("unknown.py", str(project), "--sheet", str(sheet))
    assert [row["verdict"] for row in rows(sheet)] == ["false", "missed"]
    assert "| guarded | 0 | 0 | 0 | 1 | 0 | 0 |" in run("unknown.py", "--sheet", str(sheet))


def bare_repository(project: Path, folder: Path) -> Path:
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *command], cwd=project, check=True)
    bare = folder / "mirrors" / "someone+bare"
    subprocess.run(["git", "clone", "-q", "--bare", str(project), str(bare / "repo")], check=True)
    return bare


def test_the_newest_commit_of_a_bare_repository_is_checked(project: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    run("unknown.py", str(bare_repository(project, tmp_path)), "--sheet", str(sheet))
    (row,) = rows(sheet)
    assert (row["repository"], row["path"], len(row["commit"])) == ("someone/bare", "model.py", 12)


def test_what_lies_around_a_repository_is_no_part_of_it(project: Path, tmp_path: Path) -> None:
    (project / "model.py").write_text(MODEL.replace("self.layers = [nn.Linear(3, 3)]", UNUSED))
    bare, sheet = bare_repository(project, tmp_path), tmp_path / "sheet.csv"
    (tmp_path / "other.py").write_text("from model import Encoder\n\n\ndef show(model):\n    print(model.spare)\n")
    run("unknown.py", str(bare), "--sheet", str(sheet), folder=tmp_path)
    assert [row["code"] for row in rows(sheet)] == ["ML213"]


def test_sheets_that_cannot_be_read_are_refused(project: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    assert "expected a checkout, or a bare git directory" in run(
        "unknown.py", str(tmp_path / "nowhere"), "--sheet", str(sheet), expected=1
    )
    run("unknown.py", str(project), "--sheet", str(sheet))
    sheet.write_text(sheet.read_text().replace("verdict", "opinion"))
    assert "there is no verdict" in run("unknown.py", "--sheet", str(sheet), expected=1)
    unknown.write(sheet, [dict.fromkeys(unknown.COLUMNS, "1")])
    assert "row 1: expected true, latent, noise, false, missed as the verdict, found '1'" in run(
        "unknown.py", "--sheet", str(sheet), expected=1
    )


# ---- two revisions


def test_a_revision_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="expected a revision of this repository"):
        beside.revision("no-such-revision", tmp_path)


def test_a_pair_is_told_by_the_least_of_each_and_the_ratios_of_its_runs() -> None:
    pair = beside.Pair("llama", ([2.0, 3.0], [4.0, 2.0]), [2 * 1024 * 1024, 1024 * 1024])
    assert pair.row() == "llama | 2.00 | 2.00 | **1.00** | 0.50 to 1.50 | 2 | 1"


@pytest.mark.parametrize("kind", beside.EDITS)
def test_an_edit_changes_the_longest_function_as_it_says(kind: str) -> None:
    lines = MODEL.splitlines(keepends=True)
    function = [node for node in ast.walk(ast.parse(MODEL)) if isinstance(node, ast.FunctionDef)][1]
    beside.EDITS[kind](lines, function, 7)
    text = "".join(lines)
    before = ast.dump(ast.parse(MODEL))
    if kind == "half-typed":
        with pytest.raises(SyntaxError):
            ast.parse(text)
    else:
        assert (ast.dump(ast.parse(text)) == before) is (kind == "comment")
    assert text != MODEL


def test_the_fixed_files_are_a_hundred_and_fifty() -> None:
    names = beside.FIXED.read_text().split()
    assert len(set(names)) == len(names) == 150


def test_two_revisions_are_imported_from_their_own_folders(tmp_path: Path) -> None:
    here = beside.work_tree(tmp_path / "here")
    code = "import modellint, modellint_rules; print(modellint.__file__, modellint_rules.__file__)"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=here.environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert all(path.startswith(str(tmp_path / "here")) for path in result.stdout.split())


def test_each_revision_runs_its_own_code_wherever_it_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there" / "modellint").mkdir(parents=True)
    (tmp_path / "there" / "modellint" / "__main__.py").write_text("raise SystemExit(7)\n")
    (tmp_path / "model.py").write_text("")
    pair = beside.work_tree(tmp_path / "here"), beside.Revision("there", tmp_path / "there")
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit, match="exited with 7"):
        beside.checks(pair, "a file", [str(tmp_path / "model.py")], 1)


# ---- mutants


def planted(monkeypatch: pytest.MonkeyPatch, places: dict[str, int]) -> Sequence[power.Mutant]:
    monkeypatch.setattr(power, "PLACES", places)
    return power.plant(seed=3)


def test_a_mutant_is_another_program_that_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    mutants = planted(monkeypatch, {"modellint/operators": 3, "rules/ml204_layers_in_plain_container": 2})
    assert len(mutants) == 5
    assert planted(monkeypatch, power.PLACES) == mutants
    for mutant in mutants:
        ((path, text),) = power.mutated([mutant]).items()
        before = Path(path).read_text()
        assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(before))
        assert before[mutant["start"] :].startswith(mutant["old"])


def test_mutants_of_another_time_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (mutant,) = planted(monkeypatch, {"modellint/operators": 1})
    with pytest.raises(SystemExit, match="plant the mutants anew"):
        power.mutated([{**mutant, "old": "something else"}])


def test_what_a_turn_catches_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    base = {"path": "a.py", "line": 1, "kind": "k", "old": "a", "new": "b"}
    pairs = [f"a rewriting: ML101 bad {number}" for number in range(40)]
    mutants = [
        {**base, "examples": "ML101 bad 0: silent"},
        {**base, "examples": "", "pairs": pairs},
        {**base, "examples": "", "pairs": pairs[:1]},
        {**base, "examples": "", "pairs": [], "files": []},
    ]
    text = "\n".join(power.table(mutants))
    assert "4 mutants, of which 3 are caught: 1 by examples,\n2 by rewritings, 0 by the ledger" in text
    shares = [line.split("|")[2].strip() for line in text.splitlines() if line.startswith("| ") and "%" in line]
    assert sorted(set(shares)) == ["2", "3"]
    assert shares.count("3") * 3 == len(shares), "one pair has one turn of three"
    assert text.count("- a.py:1 (k): `a` → `b`") == 1
    assert json.dumps(mutants)


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system tells no peak of a process")
def test_the_peak_of_a_command_is_its_own() -> None:
    """A process inherits the peak of the one that starts it: what reads a large repository must not count."""
    held = bytearray(200 * MEBIBYTE)
    measured = Measurement("holding", [sys.executable, "-c", f"x = bytearray({50 * MEBIBYTE})"])
    measured.run(record=True)
    assert len(held) > measured.peak_bytes > 50 * MEBIBYTE


WIDTHS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width, layer=nn.Linear):
        super().__init__()
        self.up = nn.Linear(4, 2 * width)
        self.last = layer(2 * width, 3)

    def forward(self, x):
        batch, length, _ = x.shape
        flat = x.view(batch * length, 4)
        flat = self.up(flat)
        return self.last(flat)
"""
CALLS = """\
import torch
from torch import nn
from nets.net import Net

Net(5)(torch.zeros(2, 7, 4))
Net(6)(torch.zeros(3, 1, 4))
Net(6, lambda *sizes: nn.Sequential(nn.Linear(*sizes), nn.Unflatten(1, (1, 3))))(torch.zeros(3, 1, 4))
"""


@pytest.mark.skipif("CI" not in os.environ and importlib.util.find_spec("torch") is None, reason="torch is missing")
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not know the columns of what runs")
def test_the_shapes_that_are_told_are_those_of_torch(tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets/net.py").write_text(WIDTHS, "utf-8")
    (tmp_path / "calls.py").write_text(CALLS, "utf-8")
    said = run("shapes_observed.py", "--script", str(tmp_path / "calls.py"), "--below", str(tmp_path / "nets"))
    first, *_, ranks, sizes, types = said.splitlines()
    assert first.startswith("1 of 1 were run; 8 tensors at 4 places; left out: 4 of objects that were made with other")
    assert ranks.startswith("| ranks | 0 (0%) | 8 (100%) |")
    assert sizes.startswith("| sizes | 0 (0%) |")
    assert sizes.endswith(" 0 (0%) | 0 (0%) |")
    assert types.startswith("| types | 0 (0%) |")


def test_a_symbol_has_one_size_in_a_call() -> None:
    batch, width = Size.symbol(Symbol("f", "batch")), Size.symbol(Symbol("f", "width"))
    call = shapes_observed.Call()
    said = [
        (None, 3, "unknown"),
        (Size.of(3), 3, "agree"),
        (Size.of(3), 4, "differ"),
        (batch * width, 12, "not decided"),
        (Size.of(2) * batch + Size.of(1), 8, "differ"),
        (Size.of(2) * batch, 6, "bind"),
        (batch, 3, "agree"),
        (batch, 2, "differ"),
        (batch * width, 12, "bind"),
        (width.floor(Size.of(3)), 1, "agree"),
        (width.floor(Size.of(3)), 2, "differ"),
    ]
    assert [call.judged(size, number) for size, number, _ in said] == [word for _, _, word in said]
