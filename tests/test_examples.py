"""The five incidents under `examples/`: found where they are broken, silent where they are repaired."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from effort import PATIENCE

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

#: The file of each finding, the text of its line, and the code.
INCIDENTS = (
    ("mini-omni/broken/generate.py", "return codec.decode(codes)", "ML103"),
    ("amphion/broken/encoder.py", "self.input_layer = nn.Embedding(cfg.input_dim, cfg.d_model)", "ML101"),
    ("vila/broken/packing.py", '[row["position_ids"] for row in rows], batch_first=True, padding_value=', "ML304"),
    ("qwen2-vl/broken/attention.py", "rotary_seq_len = cache_position[-1] + 10", "ML301"),
    ("speechbrain/broken/training/hparams.yaml", "ctc_lin: !new:speechbrain.nnet.linear.Linear", "ML201"),
    ("speechbrain/broken/inference/hyperparams.yaml", "ctc_lin: !new:speechbrain.nnet.linear.Linear", "ML201"),
)


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "modellint", "check", "--no-cache", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)


def findings(result: subprocess.CompletedProcess[str]) -> set[tuple[str, int, str]]:
    found = json.loads(result.stdout)["findings"]
    places = [(finding["path"], finding["line"], finding["code"]) for finding in found]
    assert len(places) == len(set(places)), "a mistake is reported once"
    return set(places)


def line_of(path: Path, text: str) -> int:
    """The only line of a file that holds `text`."""
    numbers = [number for number, line in enumerate(path.read_text("utf-8").splitlines(), 1) if text in line]
    assert len(numbers) == 1, f"{text!r} stands on the lines {numbers} of {path}"
    return numbers[0]


def expected(file: str, text: str, code: str) -> tuple[str, int, str]:
    return f"examples/{file}", line_of(EXAMPLES / file, text), code


def projects() -> list[Path]:
    return sorted(path for path in EXAMPLES.iterdir() if path.is_dir())


def test_all_incidents_are_found_and_nothing_else() -> None:
    result = check("examples", "--output-format", "json")
    assert result.returncode == 1, result.stderr
    assert findings(result) == {expected(*incident) for incident in INCIDENTS}


@pytest.mark.parametrize(("file", "text", "code"), INCIDENTS, ids=[f"{i[0].split('/')[0]}-{i[2]}" for i in INCIDENTS])
def test_an_incident_is_found_when_only_its_file_is_checked(file: str, text: str, code: str) -> None:
    """A pre-commit hook passes single files; the rest of the project is loaded on demand."""
    result = check(f"examples/{file}", "--output-format", "json")
    assert result.returncode == 1, result.stderr
    assert findings(result) == {expected(file, text, code)}


@pytest.mark.parametrize("project", projects(), ids=lambda project: project.name)
def test_a_repaired_project_is_silent(project: Path) -> None:
    result = check(str(project / "fixed"), "--output-format", "json")
    assert findings(result) == set()
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("project", projects(), ids=lambda project: project.name)
def test_a_repair_touches_one_line_of_each_broken_file(project: Path) -> None:
    broken, fixed = project / "broken", project / "fixed"
    names = sorted(path.relative_to(broken) for path in broken.rglob("*") if path.suffix in (".py", ".yaml"))
    assert names == sorted(path.relative_to(fixed) for path in fixed.rglob("*") if path.suffix in (".py", ".yaml"))
    changed = {name: changed_lines(broken / name, fixed / name) for name in names}
    expected_files = {Path(file) for file, _, _ in INCIDENTS}
    for name, (removed, added) in changed.items():
        if (broken / name).relative_to(EXAMPLES) in expected_files:
            assert removed <= 1
            assert added == 1
        else:
            assert (removed, added) == (0, 0), name


def changed_lines(before: Path, after: Path) -> tuple[int, int]:
    """How many lines were removed and added."""
    lines = list(difflib.ndiff(before.read_text("utf-8").splitlines(), after.read_text("utf-8").splitlines()))
    return sum(line.startswith("- ") for line in lines), sum(line.startswith("+ ") for line in lines)


def test_every_incident_is_told() -> None:
    for project in projects():
        text = (project / "README.md").read_text("utf-8")
        codes = {code for file, _, code in INCIDENTS if file.startswith(f"{project.name}/")}
        assert codes, project
        for code in codes:
            assert code in text
