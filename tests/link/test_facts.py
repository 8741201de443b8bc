"""What is known of elements: where they come from, and what ends the trail."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from modellint.graph.value import EventKind
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.link.values.facts import Fact

    Find = Callable[..., tuple[Fact, ...]]

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

PAD = -1


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.proj = nn.Linear(width, width)
        self.head = nn.Linear(width, 1028)
        self.mlp = nn.Sequential(nn.Linear(width, 1028), nn.Dropout(0.1))
        self.act = nn.ReLU()
        self.drop = nn.Dropout(0.1)
        self.rnn = nn.GRU(width, width)
        self.table = nn.Embedding(1024, width)

    def forward(self, x, ids, mask, texts, unknown):
"""


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """The facts about the argument of `use(…)` in a body."""

    def facts(body: str) -> tuple[Fact, ...]:
        (tmp_path / "model.py").write_text(MODEL + indent(dedent(body).strip(), "        ") + "\n")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "model.py")
        assert module is not None
        function = module.classes["Model"].methods["forward"]
        call = next(e.value for e in function.flow.of(EventKind.CALL) if e.value.callee.data == "use")
        argument = call.argument(0)
        assert argument is not None
        return project.facts.facts(argument, project.evaluator.root(function))

    return facts


def summary(facts: tuple[Fact, ...]) -> set[str]:
    """Kinds, with a number or a name where there is one; `?` where a condition decides."""
    return {
        " ".join(
            str(part)
            for part in (fact.kind.value, fact.number, fact.parameter, "?" if fact.conditional else None)
            if part is not None
        )
        for fact in facts
    }


# -- constants --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "pad_sequence(unknown.texts, padding_value=PAD)",
        "pad_sequence(unknown.texts, True, -1)",
        "F.pad(unknown.ids, (0, 1), value=-1)",
        "torch.full((2, 3), -1)",
        "torch.full_like(unknown.ids, PAD)",
        "x.new_full((1,), PAD)",
        "unknown.ids.masked_fill(mask, -1)",
        "torch.tensor([[PAD, -1]])",
        "torch.full((1,), -2) + 1",
    ],
)
def test_constants_that_are_filled_in_are_known(find: Find, expression: str) -> None:
    assert "filler -1" in summary(find(f"use({expression})"))


def test_an_element_that_is_assigned_is_a_filler(find: Find) -> None:
    assert "filler 7" in summary(find("ids[:, 0] = 7\nuse(ids)"))


@pytest.mark.parametrize("expression", ["padded.clamp(min=0)", "padded[padded >= 0]", "padded.masked_fill(mask, 0)"])
def test_a_filler_that_is_taken_out_again_is_gone(find: Find, expression: str) -> None:
    assert "filler -1" not in summary(find(f"padded = pad_sequence(texts, padding_value=-1)\nuse({expression})"))


@pytest.mark.parametrize(
    "body",
    [
        "t = torch.full((2, 5), -1)\nfor k in range(5):\n    t[:, k] = unknown(k)\nuse(t)",
        "use(F.pad(unknown.ids, (0, 4), value=-1)[:, :-4])",
        "t = torch.full((9,), -1)\nfor k in range(3):\n    t[k * 3 : k * 3 + 3] = unknown(k)\nuse(t)",
    ],
)
def test_a_filler_that_may_be_overwritten_or_cut_off_is_conditional(find: Find, body: str) -> None:
    assert summary(find(body)) == {"filler -1 ?"}


@pytest.mark.parametrize("index", ["0", ":, :length", "1:", ":, 0"])
def test_a_filler_of_which_some_stays_is_certain(find: Find, index: str) -> None:
    assert "filler -1" in summary(find(f"t = torch.full((2, 5), -1)\nlength = unknown.n\nt[{index}] = x\nuse(t)"))


def test_a_branch_that_asks_for_another_argument_is_not_conditional(find: Find) -> None:
    body = "if mask is not None:\n    ids = ids.masked_fill(mask, -1)\nuse(ids)"
    assert "filler -1" in summary(find(body))
    assert "filler -1 ?" in summary(find(body.replace("mask is not None", "unknown.flag")))


# -- parameters, positions, branches ----------------------------------------------------------------------------------


def test_a_parameter_passes_through_views_and_casts(find: Find) -> None:
    assert summary(find("use(ids.to(x.device).view(-1).long())")) == {"parameter ids"}


def test_a_parameter_that_is_computed_with_is_changed(find: Find) -> None:
    (fact,) = find("use(ids + 1)")
    assert fact.changed


def test_positions_are_made_by_arange(find: Find) -> None:
    assert summary(find("use(torch.arange(4).unsqueeze(0))")) == {"positions"}


def test_a_default_for_a_missing_argument_is_not_conditional(find: Find) -> None:
    body = "if ids is None:\n    ids = torch.arange(4)\nuse(ids)"
    assert "parameter ids" in summary(find(body))


def test_values_of_dicts_are_found_by_their_keys(find: Find) -> None:
    assert summary(find("out = {'a': self.proj(x), 'b': ids}\nuse(out['b'])")) == {"parameter ids"}


def test_a_value_that_depends_on_itself_ends(find: Find) -> None:
    assert summary(find("while unknown:\n    ids = torch.cat([ids, ids])\nuse(ids)")) == {"parameter ids"}
