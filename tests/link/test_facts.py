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
    """Kinds, with a name where there is one; `?` where a condition decides."""
    return {
        " ".join(
            str(part)
            for part in (fact.kind.value, fact.parameter, "?" if fact.conditional else None)
            if part is not None
        )
        for fact in facts
    }


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
