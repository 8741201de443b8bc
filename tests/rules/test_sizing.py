"""Tables and their sizes: how they are found, who looks them up, and what their rows run into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml101_embedding_sized_by_features.sizing import Sizing

from modellint.flow.domain import SymbolicInput
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Read = Callable[[str], Sizing]

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


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def sizing(text: str) -> Sizing:
        (tmp_path / "model.py").write_text(text)
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "model.py")
        assert module is not None
        return Sizing(module, project)

    return sizing


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return self.linear(found)", ["width"]),
        ("return self.linear(self.drop(found) * 2)", ["width"]),
        ("return self.linear(F.dropout(found.float(), 0.1))", ["width"]),
        ("return found + self.other(ids)", ["width"]),
        ("return self.linear(self.drop(x + found))", ["width"]),
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
def test_rows_are_followed_to_what_takes_them(read: Read, body: str, expected: list[str]) -> None:
    sizing = read(MODEL.replace("BODY", body))
    (table,) = [table for table in sizing.holders.tables if table.attribute == "table"]
    assert [str(taken.width) for taken in sizing.users.takers(table)] == expected


@pytest.mark.parametrize(
    ("made", "attribute"),
    [
        ("self.a = nn.Embedding(rows, columns)", "a"),
        ("self.a = self.make(rows, columns)", "a"),
        ("self.a = make(columns=columns, rows=rows)", "a"),
        ("self.a = (lambda: nn.Embedding(rows, columns))()", "a"),
        ("self.a = functools.partial(nn.Embedding, rows)(columns)", "a"),
        ("self.a = nn.Embedding(*(rows, columns))", "a"),
        ("self.a = nn.Embedding(**{'num_embeddings': rows, 'embedding_dim': columns})", "a"),
        ("setattr(self, 'a', nn.Embedding(rows, columns))", "a"),
        ("self.a = nn.ModuleDict({'b': nn.Embedding(rows, columns)})", "a"),
        ("self.a = nn.Sequential(Turned(columns, rows), nn.ReLU())", "a"),
        (
            "tables = []\n        tables.append(nn.Embedding(rows, columns))\n        self.a = nn.ModuleList(tables)",
            "a",
        ),
        ("self.keep(rows, columns)", "kept"),
        ("table = nn.Embedding(rows, columns)", ""),
    ],
)
def test_tables_are_found_wherever_they_are_made(read: Read, made: str, attribute: str) -> None:
    sizing = read(f"""\
import functools
from torch import nn


class Turned(nn.Embedding):
    def __init__(self, width, count):
        super().__init__(count, width)


def make(rows, columns):
    return nn.Embedding(rows, columns)


class Model(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        {made}

    def keep(self, rows, columns):
        self.kept = nn.Embedding(rows, columns)

    def make(self, rows, columns):
        return nn.Embedding(rows, columns)
""")
    found = [table for table in sizing.holders.tables if table.attribute == attribute]
    (table,) = [table for table in found if attribute or table.call.function.name == "__init__"]
    assert (str(table.rows.size), table.columns and str(table.columns.size)) == ("rows", "columns")
    assert "rows" in table.rows.names


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("ids", "ids"),
        ("ids.long().to(other.device)", "ids"),
        ("torch.clone(ids)", "ids"),
        ("same(ids)", "ids"),
        ("ids[:, 0]", "ids[…]"),
        ("ids.view(-1)", "ids[…]"),
        ("ids + 1", "ids[…]"),
        ("ids.clamp(max=self.count - 1)", "ids[…]"),
        ("other['ids']", "other.ids"),
        ("ids.float()", None),
        ("ids > 1", None),
        ("ids.argmax(-1)", None),
    ],
)
def test_what_a_function_is_given_is_known_where_it_looks_something_up(
    read: Read, index: str, expected: str | None
) -> None:
    sizing = read(f"""\
from torch import nn
import torch


def same(x):
    return x


class Model(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.count = count
        self.table = nn.Embedding(count, width)

    def forward(self, ids, other):
        return self.look_up({index})

    def look_up(self, indices):
        return self.table(indices)
""")
    (table,) = sizing.holders.tables
    found = [use for use in sizing.users.lookups(table) if use.root.name == "forward"]
    names = {atom.name for use in found for atom in use.given if isinstance(atom, SymbolicInput)}
    assert names == ({expected} if expected is not None else set())
