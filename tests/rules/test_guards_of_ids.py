"""Guards that let one id too many through are told from guards of slices, and keys that pick tables from all tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml103_ids_exceed_table.guarded import clamping

import modellint
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

CODEC = """\
import torch
from torch import nn


class Codec(nn.Module):
    def __init__(self, rows: int, width: int):
        super().__init__()
        self.rows = rows
        self.books = nn.Embedding(rows, width)
        self.bias = nn.Parameter(torch.zeros(rows, width))
        self.register_buffer("mask", torch.ones(rows, rows))

    def forward(self, n, m, ids, batch):
        assert {guard}
        return {value}

    def _row(self, n):
        return self.bias[None, n]

    def _rows(self, n):
        return self.bias[:n, :]
"""


def lines(folder: Path, text: str, code: str = "ML103") -> list[int]:
    (folder / "model.py").write_text(text, encoding="utf-8")
    return [finding.span.line for finding in modellint.check([folder], isolated=True) if finding.code == code]


@pytest.mark.parametrize(
    ("guard", "value"),
    [
        ("n <= self.rows", "self.bias[n, :m]"),
        ("n <= self.rows", "self.bias[:n], self.bias[n]"),
        ("n <= self.rows", "self.bias[None, n]"),
        ("n <= self.rows", "self._row(n)"),
        ("n <= self.rows", "self.mask[n, ids]"),
        ("n <= self.rows", "self.books(torch.tensor([n]))"),
        ("n <= self.rows", "self.books(ids.clamp(max=n))"),
        ("batch.ids.max() <= self.rows", "self.books(batch.ids)"),
        ("batch['ids'].max() <= self.rows", "self.books(batch['ids'])"),
        ("max(ids) <= self.rows", "self.books(torch.tensor(ids))"),
        ("ids.max().item() <= self.rows", "self.books(ids[:, : n - 1])"),
        ("not (ids > self.rows).any()", "self.books(ids.view(n, -1).long())"),
    ],
)
def test_a_guard_of_ids_is_found_and_never_made_exact_for_sure(tmp_path: Path, guard: str, value: str) -> None:
    text = CODEC.format(guard=guard, value=value)
    assert lines(tmp_path, text) == [14]
    (finding,) = (one for one in modellint.check([tmp_path], isolated=True) if one.code == "ML103")
    assert finding.fix is not None
    assert finding.fix.applicability.value == "unsafe"


@pytest.mark.parametrize(
    ("guard", "value"),
    [
        ("n <= self.rows", "self.bias[:n], self.bias[0:n, :], self.mask[:n, :n], self.bias[-n], self.bias[-n:]"),
        ("n <= self.rows", "self._rows(n)"),
        ("n <= self.rows", "self.bias.narrow(0, 0, n), self.bias.split(n), self.books(ids.narrow(1, 0, n))"),
        ("n <= self.rows", "self.books(torch.arange(n)), self.books(torch.arange(self.rows)[:n])"),
        ("n <= self.rows", "[self.bias[i] for i in range(n)]"),
        ("n <= self.rows", "self.books(ids.view(n, -1)), self.books(ids.expand(n, 2)), self.books(ids.topk(n)[1])"),
        ("m <= self.rows", "self.mask[n, m], self.mask[:, m], self.mask[..., m]"),
        ("n <= self.rows", "self.books(ids[n])"),
        ("batch.lengths.max() <= self.rows", "self.books(batch.ids)"),
        ("ids.count(0) <= self.rows", "self.books(ids)"),
        ("n.max() <= self.rows", "self.books(n.max(1)[1])"),
        ("n.max() <= self.rows", "self.books(ids[n])"),
        ("ids.max() <= self.rows", "self.books(ids.clamp(max=m))"),
    ],
)
def test_a_guard_of_what_is_no_id_is_right(tmp_path: Path, guard: str, value: str) -> None:
    assert lines(tmp_path, CODEC.format(guard=guard, value=value)) == []


STREAMS = """\
from torch import nn


class Streams(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.names = names
        self.head = nn.Linear(64, 2000)
        self.heads = nn.ModuleDict({{"a": nn.Linear(64, {first}), "b": nn.Linear(64, {second})}})
        self.same = nn.ModuleDict({{"a": nn.Embedding(1024, 64), "b": nn.Embedding(1024, 64)}})
        self.tables = nn.ModuleDict({{"a": nn.Embedding(2000, 64), "b": nn.Embedding(1024, 64)}})

    def forward(self, x):
        ids = {{name: self.heads[name](x).argmax(-1) for name in self.names}}
        return {value}
"""


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        (1025, 1026, "[self.same[name](each) for name, each in ids.items()]"),
        (2000, 2000, "[self.tables[name](each) for name, each in ids.items()]"),
        (2000, 1024, "[table(self.head(x).argmax(-1)) for table in self.tables.values()]"),
    ],
)
def test_ids_that_every_table_gets_are_too_many_for_one(tmp_path: Path, first: int, second: int, value: str) -> None:
    assert lines(tmp_path, STREAMS.format(first=first, second=second, value=value)) == [15]


@pytest.mark.parametrize(
    "value",
    [
        "[self.tables[name](each) for name, each in ids.items()]",
        "[self.tables[name](ids[name]) for name in self.names]",
        "[self.tables[name].weight[ids[name]] for name in self.names]",
        "[table(head(x).argmax(-1)) for head, table in zip(self.heads.values(), self.tables.values())]",
        "nn.functional.embedding(ids[self.names], self.tables[self.names].weight)",
    ],
)
def test_a_key_may_pick_the_table_for_its_ids(tmp_path: Path, value: str) -> None:
    assert lines(tmp_path, STREAMS.format(first=2000, second=1024, value=value)) == []


SENTINEL = """\
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def joined(rows, value{default}):
    return pad_sequence(rows, batch_first=True, padding_value=value)


class Positions(nn.Module):
    def __init__(self, size=64, width=32):
        super().__init__()
        self.table = nn.Embedding(size, width)

    def forward(self, rows):
        return self.table(joined(rows{given}))
"""


@pytest.mark.parametrize(("default", "given", "count"), [("=-100", "", 1), ("", ", -100", 0)])
def test_a_sentinel_that_a_parameter_is_has_only_its_default_replaced(
    tmp_path: Path, default: str, given: str, count: int
) -> None:
    text = SENTINEL.format(default=default, given=given)
    assert lines(tmp_path, text, "ML304") == [6]
    (finding,) = (one for one in modellint.check([tmp_path], isolated=True) if one.code == "ML304")
    edits = () if finding.fix is None else finding.fix.edits
    assert [(edit.place.span.line, edit.text) for edit in edits] == [(5, "0")] * count
    assert all(text.splitlines()[4][edit.place.span.column - 1 :].startswith("-100)") for edit in edits)


@pytest.mark.parametrize(
    ("work", "is_asked"),
    [
        ("self.step(self.books(ids.clamp(max=self.rows)))", True),
        ("self.step(ids.clamp(max=self.rows))", True),
        ("self.step(ids.clamp(max=self.rows) + 1)", True),
        ("self.step(ids.clamp(max=self.rows).max(1)[0].view(-1))", True),
        ("self.step(torch.stack([torch.clamp(ids, 0, int(self.rows / 2))]))", True),
        ("self.step((ids.clamp(1.0 - self.rate, 1.0 + self.rate) + ids))", False),
        ("self.step(ids.clamp(-self.rate, self.rate) * batch)", False),
        ("self.step((batch - ids.clamp(-self.rate, self.rate)).pow(2))", False),
        ("self.step(ids.clamp(0, self.rows / 2))", False),
        ("self.step(ids.clamp(max=torch.finfo(batch.dtype).max - 1000))", False),
        ("self.step(ids.clamp(max=self.rows) == batch)", False),
        ("self.step(batch[ids.clamp(max=self.rows)])", True),
        ("self.step(batch.gather(1, ids.clamp(max=self.rows)).argmax(-1))", True),
    ],
)
def test_only_what_may_be_ids_is_run_for_its_clamps(work: str, is_asked: bool, tmp_path: Path) -> None:
    """The ratio of policies is clamped, too; a loss of it has an update step call everything."""
    text = CODEC.format(guard="True", value=f"self.books(ids.argmax(-1)), {work}")
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert [function.name for function in clamping(module, project)] == ["forward"] * is_asked
