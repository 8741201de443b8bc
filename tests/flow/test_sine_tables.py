"""Functions that may say how long a table of sines is: those that count in a loop, or join lists, say nothing."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

import pytest

from modellint.flow.sine_tables import sine_tables
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

ROTARY = """\
import torch


def rotary(positions, parts=()):
    return positions.cos()


def work(x, parts):
"""


@pytest.mark.parametrize(
    ("code", "is_root"),
    [
        ("return rotary(torch.arange(len(x)))", True),
        ("return rotary(x)[: len(parts)]", True),
        ("shape = x.shape[:1] + (8,)\nreturn rotary(torch.arange(shape[0]))", True),
        ("for part in range(len(parts)):\n    x = rotary(x)\nreturn x", False),
        ("return rotary(x, parts + [x])", False),
    ],
)
def test_only_tensors_that_count_and_numbers_say_a_length(code: str, is_root: bool, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(f"{ROTARY}{indent(code, '    ')}\n", encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert [function.name for function in sine_tables(module, project).roots()] == ["work"] * is_root


PENALTY = """\
import torch


class Angles:
    def __call__(self, x):
        return torch.arange(x.shape[1])[:, None] * self.rates


class Penalty:
    def __call__(self, ids, scores):
        mask = torch.zeros(scores.shape[0], 8, dtype=torch.bool)
        rows = torch.repeat_interleave(torch.arange(len(ids)), self.counts)
        mask[rows, ids] = True
        lowered = torch.where(scores < 0, scores * self.penalty, scores / self.penalty)
        scores[0, rows, :] = torch.where(mask[..., :8], lowered, scores)
        return scores
"""


def test_a_mask_of_positions_makes_no_angles(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(PENALTY, encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    producers = sine_tables(module, project).producers
    assert "Angles" in producers
    assert "Penalty" not in producers
