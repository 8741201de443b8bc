"""What takes the rows of a table: layers, sums, and what is called with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link.project import Project, ProjectOptions
from modellint.link.values.widths import takers

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size)

    def forward(self, hidden, mask=None):
        return self.norm(hidden)


class Model(nn.Module):
    def __init__(self, rows, columns, width):
        super().__init__()
        self.table = nn.Embedding(rows, columns)
        self.other = nn.Embedding(rows, width)
        self.linear = nn.Linear(width, width)
        self.conv = nn.Conv1d(width, width, 1)
        self.drop = nn.Dropout(0.1)
        self.block = Block(width)
        self.learned = nn.Parameter(torch.zeros(1, width))
        self.part = nn.Parameter(torch.zeros(1, 3))

    def forward(self, ids, x):
        found = self.table(ids)
        BODY
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return self.linear(found)", ["width"]),
        ("return self.linear(self.drop(found) * 2)", ["width"]),
        ("return self.linear(F.dropout(found.float(), 0.1))", ["width"]),
        ("return found + self.other(ids)", ["width"]),
        ("found += self.learned\n        return found", ["width"]),
        ("y = torch.cat([self.learned.expand(2, 1, -1), x], dim=1)\n        return y + found", ["width"]),
        ("return self.block(found)", ["width"]),
        ("return self.block(mask=found, hidden=x)", []),
        ("return self.conv(found.transpose(1, 2))", []),
        ("return self.linear(found.transpose(1, 2))", []),
        ("return self.linear(torch.cat([found, found], dim=-1))", []),
        ("return self.linear(x) + x", []),
        ("return found + x", []),
        ("return self.other(found)", []),
    ],
)
def test_rows_are_followed_to_what_takes_them(tmp_path: Path, body: str, expected: list[str]) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL.replace("BODY", body))
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(path)
    assert module is not None
    frame = project.evaluator.root(module.classes["Model"].methods["__init__"])
    (table,) = [table for event, table in project.tables.built_in(frame) if "columns" in module.text_of(event.value)]
    assert [str(taker.width) for taker in takers(table, frame, project)] == expected
