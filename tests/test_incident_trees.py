"""The check of the incidents' own trees tells what is lost, what is flagged anew, and which repository is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import incidents

MODEL = """\
import torch
from torch import nn


class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 20)
        self.books = nn.Embedding(10, 8)

    def forward(self, x):
        return self.books(self.head(x).argmax(-1))
"""


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    """A folder with the repository `me/speaker`."""
    repository = tmp_path / "me+speaker" / "repo"
    repository.mkdir(parents=True)
    (repository / "model.py").write_text(MODEL)
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("incident", "code", "said"),
    [
        (incidents.Incident("it", "me/speaker", "HEAD", (("ML103", "model.py", 12),)), 0, "it: as it should be\n"),
        (
            incidents.Incident("it", "me/speaker", "HEAD", (("ML103", "model.py", 3),)),
            1,
            "it: ML103 is not found at model.py:3\n",
        ),
        (
            incidents.Incident("it", "me/speaker", "HEAD", silent=("ML1",)),
            1,
            "it: ML103 is found at model.py:12\n",
        ),
        (incidents.Incident("it", "me/other", "HEAD"), 0, "is not there\n"),
    ],
)
def test_an_own_tree_is_compared(
    mirrors: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    incident: incidents.Incident,
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(incidents, "INCIDENTS", (incident,))
    assert incidents.main(["--mirrors", str(mirrors)]) == code
    assert capsys.readouterr().out.endswith(said)
