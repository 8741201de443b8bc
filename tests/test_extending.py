"""Rules of one's own: started from a template, tested by their examples, and shared as an installed pack."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from effort import PATIENCE

if TYPE_CHECKING:
    from conftest import Workspace

SAMPLE = Path(__file__).parent / "data" / "sample_pack" / "sample_rules"
DROPOUT = "from torch import nn\n\n\ndef build():\n    return nn.Dropout(1.0)\n"


def test_a_new_rule_works_at_once(workspace: Workspace) -> None:
    made = workspace.run("rules", "new", "no-full-dropout")
    assert made.code == 0
    rule = "house_rules/own001_no_full_dropout"
    files = [
        f"{rule}/__init__.py",
        f"{rule}/examples.toml",
        f"{rule}/bad/everything-is-dropped/model.py",
        f"{rule}/good/a-tenth-is-dropped/model.py",
        "house_rules/tests/test_own001_no_full_dropout.py",
    ]
    assert made.lines == [f"wrote {file}" for file in files]
    tested = workspace.run("test-rules", "house_rules")
    assert (tested.code, tested.lines) == (
        0,
        ["OWN001 no-full-dropout: 1 bad, 1 good: ok", "1 rule, 2 examples: 0 rules failed"],
    )
    workspace.write({"modellint.toml": 'rule-paths = ["house_rules"]\nselect = ["OWN"]\n', "model.py": DROPOUT})
    assert workspace.places("model.py") == [("model.py", 5, "OWN001")]
    assert "## How to fix" in workspace.run("explain", "OWN001").out
    assert workspace.run("rules").lines[-1].split() == ["OWN001", "no-full-dropout", "warning"]


@pytest.mark.dear
def test_the_test_of_a_new_rule_fails_once_its_rule_is_broken(workspace: Workspace) -> None:
    workspace.run("rules", "new", "no-full-dropout", "--code", "LAB7", "--folder", "lab")
    file = workspace.root / "lab" / "lab7_no_full_dropout" / "__init__.py"
    # Compiled within the same second, what is as long as before would count as unchanged.
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "lab/tests"]
    assert subprocess.run(command, cwd=workspace.root, capture_output=True, check=False).returncode == 0
    file.write_text(file.read_text("utf-8").replace(".is_(1)", ".is_(2)"), "utf-8")
    broken = subprocess.run(command, cwd=workspace.root, capture_output=True, text=True, check=False)
    assert broken.returncode == 1
    assert "lab/lab7_no_full_dropout/bad/everything-is-dropped/model.py:7: marked, but not found" in broken.stdout


def test_codes_count_up(workspace: Workspace) -> None:
    for name in ("one", "two"):
        workspace.run("rules", "new", name)
    assert sorted(path.name for path in (workspace.root / "house_rules").glob("own*")) == ["own001_one", "own002_two"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("Bad_Name",), "`Bad_Name` is not a name; expected lowercase words with hyphens"),
        (("unused-suppression",), "`unused-suppression` is already the name of ML002"),
        (("fine", "--code", "ML002"), "`ML002` is already taken by `unused-suppression`"),
        (("fine", "--code", "x"), "`x` is not a code; expected capital letters and digits"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(workspace: Workspace, arguments: tuple[str, ...], error: str) -> None:
    result = workspace.run("rules", "new", *arguments)
    assert result.code == 2
    assert error in result.err
    assert list(workspace.root.iterdir()) == []


def test_a_file_that_is_there_is_not_replaced(workspace: Workspace) -> None:
    workspace.write({"house_rules/tests/test_own001_mine.py": "kept = True\n"})
    result = workspace.run("rules", "new", "mine")
    assert result.code == 2
    assert "is there already" in result.err
    assert [path.name for path in workspace.root.rglob("*.py")] == ["test_own001_mine.py"]


BAD, GOOD = "bad/everything-is-dropped/model.py", "good/a-tenth-is-dropped/model.py"


def broken(workspace: Workspace, old: str, new: str, name: str = "__init__.py") -> list[str]:
    """What `test-rules` says of the template after a change of one of its files."""
    workspace.run("rules", "new", "mine", "--folder", "lab")
    file = workspace.root / "lab" / "own001_mine" / name
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
    result = workspace.run("test-rules", "lab/own001_mine")
    assert result.code == 1
    assert result.lines[0].endswith(": failed")
    assert result.lines[-1].endswith("1 rule failed")
    as_json = workspace.run("test-rules", "lab/own001_mine", "--output-format", "json")
    assert as_json.code == 1
    assert "\n".join(f"  {problem}" for problem in as_json.json[0]["problems"]).splitlines() == result.lines[1:-1]
    return result.lines[1:-1]


def test_what_is_marked_and_not_found_is_told(workspace: Workspace) -> None:
    lines = broken(workspace, ".is_(1)", ".is_(2)")
    assert lines[0] == f"  bad example 'Everything is dropped': lab/own001_mine/{BAD}:7: marked, but not found"


def test_what_is_found_and_not_marked_is_told(workspace: Workspace) -> None:
    lines = broken(workspace, ".is_(1)", ".may_be(0.1)")
    assert lines[-1] == f"  good example 'A tenth is dropped': lab/own001_mine/{GOOD}:7: found, but not marked"


def test_a_bad_example_has_to_mark_something(workspace: Workspace) -> None:
    lines = broken(workspace, "  # expect: OWN001", "", BAD)
    assert "no line is marked; expected `# expect: OWN001`" in lines[0]


def test_an_example_whose_fix_is_not_made_is_told(workspace: Workspace) -> None:
    workspace.write({"lab/own001_mine/fixed/everything-is-dropped/model.py": "self.drop = nn.Dropout(0.1)\n"})
    lines = broken(workspace, ".is_(1)", ".is_(1.0)")
    assert lines[0] == f"  bad example 'Everything is dropped': lab/own001_mine/{BAD}: `fixed` says"
    assert any("nn.Dropout(0.1)" in line for line in lines)


def test_a_rule_that_fails_is_told(workspace: Workspace) -> None:
    lines = broken(workspace, "made.argument", "made.nothing")
    assert "AttributeError" in "\n".join(lines)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("nowhere", "nowhere: no such file or folder"),
        ("empty", "empty: no rules"),
        ("bad", "bad/x.py: cannot be loaded: SyntaxError"),
    ],
)
def test_a_path_without_rules_is_wrong_usage(workspace: Workspace, path: str, error: str) -> None:
    workspace.write({"empty/readme.txt": "", "bad/x.py": "def"})
    result = workspace.run("test-rules", path)
    assert result.code == 2
    assert error in result.err


def wheel(folder: Path) -> Path:
    """The sample pack as a wheel."""
    path = folder / "sample_rules-1.0-py3-none-any.whl"
    info = "sample_rules-1.0.dist-info"
    sources = [path for path in sorted(SAMPLE.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files = {f"sample_rules/{path.relative_to(SAMPLE).as_posix()}": path.read_text("utf-8") for path in sources}
    files[f"{info}/METADATA"] = "Metadata-Version: 2.1\nName: sample-rules\nVersion: 1.0\nRequires-Dist: modellint\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = "[modellint.rules]\nsample = sample_rules\n"
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.dear
def test_an_installed_pack_is_part_of_every_command(tmp_path: Path) -> None:
    site, project = tmp_path / "site", tmp_path / "project"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site)]
    subprocess.run([*install, str(wheel(tmp_path))], check=True, capture_output=True, timeout=PATIENCE)
    project.mkdir()
    (project / "model.py").write_text("from torch import nn\n\n\ndef build():\n    return nn.EmbeddingBag(8, 4)\n")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "modellint", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(site)}
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    listed = json.loads(run("rules", "--output-format", "json").stdout)
    assert {"LAB001", "LAB002", "ML001"} <= {rule["code"] for rule in listed}
    found = run("check", "--output-format", "concise", "--no-cache")
    assert (found.returncode, found.stdout.splitlines()[0]) == (
        1,
        "model.py:5:12: LAB001[warning] `nn.EmbeddingBag` cannot be exported",
    )
    assert run("check", "--ignore", "LAB").returncode == 0
    assert "Models with it cannot be exported." in run("explain", "LAB001").stdout
    tested = run("test-rules", str(site / "sample_rules"))
    assert (tested.returncode, tested.stdout.splitlines()) == (
        0,
        [
            "LAB001 no-embedding-bag: 1 bad, 1 good: ok",
            "LAB002 no-rnn-cell: 1 bad, 1 good: ok",
            "2 rules, 4 examples: 0 rules failed",
        ],
    )
    assert "self.cell = nn.GRUCell(8, 8)  # expect: LAB002" in run("explain", "LAB002").stdout
    (project / "house").mkdir()
    (project / "house" / "taken.py").write_text(
        (SAMPLE / "lab001_no_embedding_bag.py").read_text().replace(".calls", "sample_rules.calls")
    )
    (project / "modellint.toml").write_text('rule-paths = ["house"]\n')
    taken = run("check")
    assert taken.returncode == 2
    assert "the code `LAB001` is already taken by `no-embedding-bag`" in taken.stderr


OPERATORS = """\
from modellint.finding import Severity
from modellint.rule import Rule


class Lab(Rule):
    \"\"\"Only tells of operators.\"\"\"

    code = "LAB007"
    name = "lab-operators"
    severity = Severity.INFO
    operators = \"\"\"
    [functions of lab_ops]
    pick     : drawn:best along:dim@1
    sharpen  : real same-shape
    \"\"\"
"""
DRAWING = """\
import lab_ops
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(4096, 64)
        self.head = nn.Linear(64, 4160)

    def forward(self, x):
        return self.embedding(lab_ops.pick(lab_ops.sharpen(self.head(x)), dim=-1))
"""


def test_a_rule_may_say_what_operators_of_its_house_do(workspace: Workspace) -> None:
    workspace.write({"lab/lab007.py": OPERATORS, "model.py": DRAWING, "modellint.toml": 'rule-paths = ["lab"]\n'})
    assert workspace.places("model.py") == [("model.py", 13, "ML103")]
    workspace.write({"modellint.toml": ""})
    assert workspace.places("model.py") == [], "what one project says of operators is not said of the next"


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("pick : drwan", "`drwan`: no facet; expected one that `modellint.operators` describes"),
        ("pick", "`pick`: expected a heading in brackets, and below it lines `name : facet`"),
        ("[things of lab_ops]", "`[things of lab_ops]`: expected `[functions of MODULE]`"),
        ("[functions of torch]\n    cat : passed", "`torch.cat`: there are two rows of it"),
    ],
)
def test_a_row_that_is_none_is_refused(workspace: Workspace, row: str, error: str) -> None:
    text = OPERATORS.replace("pick     : drawn:best along:dim@1", row)
    workspace.write({"lab/lab007.py": text, "model.py": DRAWING, "modellint.toml": 'rule-paths = ["lab"]\n'})
    result = workspace.run("check", "model.py")
    assert result.code == 2
    assert f"lab007.py: `operators` of `lab-operators`: {error}" in result.err


ASKING = """\
from modellint.finding import Severity
from modellint.rule import Rule
{imports}

class Asking(Rule):
    \"\"\"A rule that asks\"\"\"

    code = "LAB008"
    name = "asking"
    severity = Severity.INFO
    {attribute}

    def check_python(self, module, project):
        {body}
        yield from ()
"""


@pytest.mark.parametrize(
    ("attribute", "error"),
    [
        ('requires = ("cals",)', "`requires` of `asking`: there is no query `cals`; did you mean `calls`?"),
        ('requires = ("calls", 3)', "`requires` of the rule `Asking` is no tuple of names"),
        ('requires = "calls"', "`requires` of the rule `Asking` is no tuple of names"),
        ('about = ("torhc.nn.Linear",)', "nothing is known of `torhc`; did you mean `torch`?"),
        ('about = ("torch.nn.Liner",)', "`torch.nn` has no `Liner`; did you mean `Linear`?"),
        (
            'about = ("qqqq.Layer",)',
            "nothing is known of `qqqq`; expected torch, or a library that `operators` describes",
        ),
    ],
)
def test_a_rule_that_asks_for_what_does_not_exist_is_refused(workspace: Workspace, attribute: str, error: str) -> None:
    text = ASKING.format(imports="", attribute=attribute, body="pass")
    workspace.write({"lab/lab008.py": text, "model.py": DROPOUT, "modellint.toml": 'rule-paths = ["lab"]\n'})
    result = workspace.run("check", "model.py")
    assert result.code == 2
    assert "lab008.py" in result.err
    assert error in result.err


def test_an_import_of_a_query_that_does_not_exist_names_the_nearest(workspace: Workspace) -> None:
    text = ASKING.format(imports="from modellint.flow.queries import Operandd\n", attribute="", body="pass")
    workspace.write({"lab/lab008.py": text, "model.py": DROPOUT, "modellint.toml": 'rule-paths = ["lab"]\n'})
    result = workspace.run("check", "model.py")
    assert result.code == 2
    assert "did you mean `Operand`?" in result.err


def test_a_query_that_does_not_exist_fails_with_the_nearest(workspace: Workspace) -> None:
    body = "queries.flow(module, project).lokups()"
    text = ASKING.format(imports="from modellint.flow import queries\n", attribute="", body=body)
    workspace.write({"lab/lab008.py": text, "model.py": DROPOUT, "modellint.toml": 'rule-paths = ["lab"]\n'})
    result = workspace.run("check", "model.py")
    assert result.code == 2
    assert "there is no query `lokups`; did you mean `lookups`?" in result.err


@pytest.mark.parametrize(("text", "is_asked"), [("import torch\n", True), ("import json\n", False)])
def test_a_file_that_reaches_none_of_the_libraries_is_left_out(workspace: Workspace, text: str, is_asked: bool) -> None:
    rule = ASKING.format(imports="", attribute='about = ("torch.nn.Linear",)', body="raise ValueError(module.path)")
    workspace.write({"lab/lab008.py": rule, "model.py": text, "modellint.toml": 'rule-paths = ["lab"]\n'})
    assert workspace.run("check", "model.py").code == (2 if is_asked else 0)
