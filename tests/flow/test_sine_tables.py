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
