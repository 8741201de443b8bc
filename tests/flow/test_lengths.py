"""Lengths on paper: how they are calculated, and the tables of sines and cosines that are made for them."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml301_hard_coded_rotary_offset.offsets import is_run_time, measured, offset_of

from modellint.flow.domain import SymbolicInput
from modellint.flow.length_terms import FunctionTables, LengthKind, Term
from modellint.flow.queries import flow
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Ask = Callable[..., FunctionTables]

ROTARY = """
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.register_buffer("cosines", torch.cos(torch.arange(4096.0)))

    def build(self, length, scale):
        angles = torch.arange(length) * scale
        return angles.cos(), angles.sin()

    def forward(self, x, seq_len=None, scale=1.0):
        return self.build(seq_len, scale)

    def cut(self, x, upto):
        return self.cosines[:upto]
"""
ATTENTION = """
import torch
from rotary import Rotary
from torch import nn
from torch.nn.functional import pad


def helper(y):
    return y.shape[1] + 32


def rotate(x, cos, sin):
    return x * cos + x.flip(-1) * sin


def look(q, cos, sin, ids):
    return q * cos[ids] + q.flip(-1) * sin[ids]


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.rotary = Rotary(dim)

    def forward(self, q, ids, n, extra, cache=None):
"""


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """What is found of the method `forward` with a body; `length` is what the table is made for, by one call."""

    def found(body: str = "", length: str = "") -> FunctionTables:
        body = body or f"cos, sin = self.rotary(q, {length})\nreturn cos, sin"
        (tmp_path / "rotary.py").write_text(dedent(ROTARY))
        (tmp_path / "main.py").write_text(ATTENTION + indent(body, " " * 8) + "\n")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "main.py")
        assert module is not None
        found = (asked for asked in flow(module, project).position_tables() if asked.function.name == "forward")
        return next(found, FunctionTables(module.body))

    return found


def texts(terms: list[Term]) -> set[str]:
    return {term.origin.module.text_of(term.origin.value) for term in terms}


def sums(asked: FunctionTables) -> set[str]:
    """The sums with a number that the lengths of tables are calculated by."""
    parts = [part for table in asked.sized.values() for part in table.length.parts()]
    return texts([part for part in parts if offset_of(part) is not None])


# -- how lengths are calculated ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("q.shape[1] + 10", {"q.shape[1] + 10"}),
        ("seq_len=q.shape[1] + 2", {"q.shape[1] + 2"}),
        ("10 + q.size(-2)", {"10 + q.size(-2)"}),
        ("max(int(q.size(1)), ids.max().item() + 1)", {"ids.max().item() + 1"}),
        ("torch.maximum(ids.max(), ids.max() + 1).item()", {"ids.max() + 1"}),
        ("max([q.size(1), n + 4])", {"n + 4"}),
        ("helper(q)", {"y.shape[1] + 32"}),
        ("int(helper(q))", {"y.shape[1] + 32"}),
        ("2 * n - 1", {"2 * n - 1"}),
        ("ids[0] + 3", {"ids[0] + 3"}),
        ("q.shape[1] // 2 - 3", {"q.shape[1] // 2 - 3"}),
        ("q.shape[1] + n", set()),
        ("(n + 63) // 64 * 64", set()),
    ],
)
def test_sums_with_a_number_are_known(ask: Ask, length: str, expected: set[str]) -> None:
    assert sums(ask(length=length)) == expected


@pytest.mark.parametrize(
    "before",
    [
        "m = q.shape[1]\nif cache is not None:\n    m += 9",
        "m = q.shape[1]\nm = m + 9 if cache is not None else m",
        "b, m, *_ = q.shape\nm += 9",
        "m = {'rows': q.size(1) + 9}['rows']",
        "m = (lambda y: y.size(1) + 9)(q)",
    ],
)
def test_a_branch_a_container_or_a_function_that_adds_is_seen(ask: Ask, before: str) -> None:
    (found,) = sums(ask(f"{before}\ncos, sin = self.rotary(q, m)\nreturn cos"))
    assert found.endswith("9")


@pytest.mark.parametrize("length", ["q.shape[1] + 2", "q.size(-2) + 2", "len(q) + 2", "cache.get_seq_length() + 2"])
def test_dimensions_and_lengths_count(ask: Ask, length: str) -> None:
    assert {measured(table.length.operands[0]) for table in ask(length=length).sized.values()} == {LengthKind.COUNT}


@pytest.mark.parametrize(
    "length", ["ids.max() + 2", "torch.max(ids) + 2", "ids[-1] + 2", "ids[:, -1] + 2", "ids[..., -1].max().item() + 2"]
)
def test_maxima_and_last_elements_are_positions(ask: Ask, length: str) -> None:
    assert {measured(table.length.operands[0]) for table in ask(length=length).sized.values()} == {LengthKind.LARGEST}


@pytest.mark.parametrize(("length", "expected"), [("n + 2", True), ("ids[0] + 2", True), ("self.rotary.dim + 2", None)])
def test_what_a_function_is_given_is_known_at_run_time(ask: Ask, length: str, expected: bool | None) -> None:
    tables = ask(length=length).sized.values()
    assert ({is_run_time(table.length.operands[0]) for table in tables} or {None}) == {expected}


# -- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return self.rotary.cut(q, q.shape[1])", True),
        ("return self.rotary.cosines[: q.shape[1]]", True),
        ("return torch.arange(q.shape[1])[:, None].mul(n).cos()", True),
        ("return torch.polar(torch.ones(4), torch.arange(q.shape[1]).float())", True),
        ("return torch.einsum('i,j->ij', torch.arange(q.shape[1]), self.scale).sin()", True),
        ("return torch.arange(q.shape[1]), torch.cos(q)", False),
        ("return self.rotary.cosines[:512], torch.arange(q.shape[1])", False),
    ],
)
def test_tables_of_sines_are_made_or_cut_for_a_length(ask: Ask, body: str, expected: bool) -> None:
    assert bool(ask(body).sized) is expected


@pytest.mark.parametrize(
    "body",
    [
        "return look(q, cos, sin, ids)",
        "return look(q, cos.to(q.device), sin[None, :][0], ids.long())",
        "return q * torch.cat([cos, sin], dim=-1)[ids]",
        "return cos.index_select(0, ids.view(-1))",
        "return nn.functional.embedding(ids, cos)",
        "tables = {'cos': cos}\nreturn tables['cos'][ids[:, 0]]",
    ],
)
def test_the_ids_that_pick_rows_are_followed_to_their_parameter(ask: Ask, body: str) -> None:
    asked = ask(f"cos, sin = self.rotary(q, q.shape[1])\n{body}")
    (table, *_) = asked.sized.values()
    picks = asked.picks(table)
    assert {picked.parameter for picked in picks} == {"ids"}
    assert [call.value.callee.data for call in table.calls] == ["rotary", "build"]


def test_moved_ids_are_no_longer_what_was_given(ask: Ask) -> None:
    asked = ask("cos, sin = self.rotary(q, q.shape[1] + 2)\nreturn cos[ids + 2]")
    (picked,) = asked.picked.values()
    assert picked.parameter is None
    assert [offset_of(atom) for atom in picked.ids if isinstance(atom, Term)] == [2]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = pad(q, (0, 0, 1, 1))\nreturn x * cos + x * sin", True),
        ("x = torch.cat([extra, q], dim=1)\nreturn rotate(x, cos, sin)", True),
        ("return q.mul(cos)", True),
        ("x = pad(q, (0, 0, 1, 1))\nreturn x * cos[ids] + x * sin[ids]", False),
        ("return cos * self.scale, sin * 0.5", False),
    ],
)
def test_a_table_fits_what_it_is_applied_to_as_a_whole(ask: Ask, body: str, expected: bool) -> None:
    asked = ask(f"cos, sin = self.rotary(q, q.shape[1] + 2)\n{body}")
    assert {asked.is_fitting(table) for table in asked.sized.values()} == {expected}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("m > self.rotary.dim", True),
        ("not m <= self.rotary.dim", True),
        ("m != self.rotary.dim", True),
        ("m < self.rotary.dim", False),
        ("m is not None", False),
        ("cache", False),
    ],
)
def test_conditions_say_what_is_larger(ask: Ask, condition: str, expected: bool) -> None:
    asked = ask(f"m = q.shape[1]\nif {condition}:\n    return self.rotary(q, m)\nreturn None")
    (table, *_) = asked.sized.values()
    assert (not asked.exceeding(table).isdisjoint(table.length.parts())) is expected


# -- what is kept, and compared ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("k = torch.cat([cache, q], dim=1)", ["cache"]),
        ("k = torch.cat((cache[0], q), dim=1)", ["cache"]),
        ("k = cache.update(q, q, 0)", ["cache"]),
        ("k = torch.cat([self.past, q], dim=1)", []),
        ("k = torch.cat([q[:, :1], q[:, 1:]], dim=1)", None),
        ("k = torch.cat([part(q) for part in extra], dim=1)", None),
        ("k = cache.update(q)", None),
    ],
)
def test_what_is_joined_to_the_current_input_was_kept(ask: Ask, body: str, expected: list[str] | None) -> None:
    asked = ask(f"{body}\ncos, sin = self.rotary(q, q.shape[1])\nreturn k, cos[ids]")
    assert (list(asked.kept) if asked.is_kept else None) == expected


def test_what_has_the_past_in_it_is_grown(ask: Ask) -> None:
    asked = ask("k = torch.cat([cache, q], dim=1) * 2\ncos, sin = self.rotary(q, k.shape[1])\nreturn cos[ids]")
    (table, *_) = asked.sized.values()
    (tensor,) = table.length.operands[0]
    assert not isinstance(tensor, SymbolicInput)
    assert tensor.extent.is_grown  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("ids.max() >= n", {"ids", "n"}),
        ("(ids >= q.shape[1]).any()", {"ids"}),
        ("ids.ge(n).any()", {"ids"}),
        ("ids[:, -1].item() > 5", {"ids"}),
        ("ids.shape[1] > 5", set()),
        ("ids is None", set()),
    ],
)
def test_what_is_compared_is_known_but_for_how_many(ask: Ask, test: str, expected: set[str]) -> None:
    asked = ask(f"cos, sin = self.rotary(q, q.shape[1])\nif {test}:\n    raise ValueError\nreturn cos[ids]")
    assert asked.compared == expected
