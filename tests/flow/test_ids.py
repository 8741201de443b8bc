"""Ids that are drawn: what they are below where they look something up, and what keeps some of them away."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import TYPE_CHECKING

import pytest

from modellint.flow.domain import Ids
from modellint.flow.queries import flow
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Find = Callable[[str], list[Ids]]

MODEL = """\
import torch
from torch import nn
from torch.distributions import Categorical


def sample(logits):
    return logits.argmax(-1)


def frames(head, x, steps):
    for _ in range(steps):
        yield sample(head(x))


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.head = nn.Linear(width, 1028)
        self.mlp = nn.Sequential(nn.Linear(width, 1028), nn.Dropout(0.1))
        self.act = nn.ReLU()
        self.table = nn.Embedding(1024, width)

    def forward(self, x, ids, mask, unknown):
"""


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """The ids that a body looks up in the table."""

    def ids(body: str) -> list[Ids]:
        (tmp_path / "model.py").write_text(MODEL + indent(dedent(body).strip(), "        ") + "\n")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "model.py")
        assert module is not None
        return [found.element for found in flow(module, project).lookups() if isinstance(found.element, Ids)]

    return ids


def bounds(found: list[Ids]) -> set[str]:
    return {str(ids.bound) for ids in found}


@pytest.mark.parametrize(
    "expression",
    [
        "self.head(x).argmax(-1)",
        "torch.argmax(self.head(x), dim=-1)",
        "torch.multinomial(torch.softmax(self.head(x), -1), 1)",
        "self.head(x).topk(3).indices",
        "torch.topk(self.head(x), 3)[1]",
        "self.head(x).max(dim=-1)[1]",
        "Categorical(logits=self.head(x)).sample()",
        "Categorical(probs=self.head(x).softmax(-1)).sample()",
        "self.mlp(x).argmax(-1)",
        "self.act(self.head(x)).argmax(-1)",
        "sample(self.head(x)[:, -1])",
        "torch.stack([sample(self.head(x)) for _ in range(3)])",
        "torch.tensor(sample(self.head(x)).tolist())",
        "torch.stack(list(frames(self.head, x, 3)))",
        "self.head(x).clamp(max=3).argmax(-1)",
    ],
)
def test_ids_are_below_the_number_of_classes(find: Find, expression: str) -> None:
    assert bounds(find(f"self.table({expression})")) == {"1028"}


def test_the_indices_of_an_unpacked_topk_are_ids(find: Find) -> None:
    assert bounds(find("values, indices = self.head(x).topk(3)\nself.table(indices)")) == {"1028"}
    assert bounds(find("values, indices = self.head(x).topk(3)\nself.table(values)")) == set()


def test_ids_pass_through_lists_and_loops(find: Find) -> None:
    body = """
    kept = []
    for _ in range(3):
        token = sample(self.head(x))
        kept.append(token.item())
    self.table(torch.tensor(kept))
    """
    assert bounds(find(body)) == {"1028"}


def test_a_known_number_moves_the_range(find: Find) -> None:
    assert bounds(find("self.table(self.head(x).argmax(-1) + 2)")) == {"1030"}
    assert bounds(find("self.table(self.head(x).argmax(-1) - 4)")) == {"1024"}


def test_an_unknown_number_ends_the_trail(find: Find) -> None:
    assert not bounds(find("self.table(self.head(x).argmax(-1) - unknown.offset())"))


def test_offsets_that_count_from_0_leave_the_largest_id(find: Find) -> None:
    body = "ids = self.head(x).argmax(-1)\nfor layer in range(4):\n    self.table(ids[layer] - layer * 1024)"
    assert bounds(find(body)) == {"1028"}


@pytest.mark.parametrize(
    ("expression", "bound"),
    [
        ("drawn.clamp(0, 1023)", "1024"),
        ("drawn.clamp(max=1023)", "1024"),
        ("torch.clamp(drawn, 0, 1023)", "1024"),
        ("drawn % 1024", "1024"),
        ("torch.remainder(drawn, 1024)", "1024"),
        ("drawn.clamp(min=0)", "1028"),
    ],
)
def test_a_limit_is_a_new_bound(find: Find, expression: str, bound: str) -> None:
    assert bounds(find(f"drawn = self.head(x).argmax(-1)\nself.table({expression})")) == {bound}


@pytest.mark.parametrize(
    "expression",
    [
        "drawn[drawn < 1024]",
        "[i for i in drawn.tolist() if i < 1024]",
        "torch.where(drawn < 1024, drawn, unknown.zero)",
        "drawn.masked_fill(drawn >= 1024, unknown.zero)",
        "drawn.clamp(0, unknown.rows())",
    ],
)
def test_a_comparison_ends_the_trail_of_ids(find: Find, expression: str) -> None:
    assert not bounds(find(f"drawn = self.head(x).argmax(-1)\nself.table({expression})"))


def test_classes_that_are_cut_or_masked_lower_the_bound(find: Find) -> None:
    assert bounds(find("self.table(self.head(x)[..., :1024].argmax(-1))")) == {"1024"}
    assert (
        bounds(find("logits = self.head(x)\nlogits[..., 1024:] = float('-inf')\nself.table(logits.argmax(-1))"))
        == set()
    )
    assert bounds(find("self.table(unknown.process(self.head(x)).argmax(-1))")) == set()


def test_an_early_exit_keeps_one_id_away(find: Find) -> None:
    body = """
    kept = []
    while True:
        token = sample(self.head(x)).item()
        if token == 1027:
            break
        kept.append(token)
    self.table(torch.tensor(kept))
    """
    (ids,) = find(body)
    assert len(ids.excluded) == 1


def test_an_early_exit_on_a_range_ends_the_trail(find: Find) -> None:
    body = """
    token = sample(self.head(x))
    if token >= 1024:
        return None
    self.table(token)
    """
    assert find(body) == []


def test_one_codebook_speaks_only_for_itself(find: Find) -> None:
    body = """
    tokens = [sample(self.head(x)), sample(self.head(x))]
    if tokens[0] == 1027:
        return None
    self.table(torch.stack(tokens))
    """
    assert {len(ids.excluded) for ids in find(body)} == {0, 1}


def test_a_comparison_of_a_shape_says_nothing_of_ids(find: Find) -> None:
    body = """
    token = sample(self.head(x))
    if token.shape[0] > 3 or token.size(0) > 4 or len(token) > 5:
        return None
    self.table(token)
    """
    (ids,) = find(body)
    assert (str(ids.bound), len(ids.excluded)) == ("1028", 0)


def test_a_mask_limits_only_the_ids_that_it_compares(find: Find) -> None:
    assert "1028" in bounds(find("self.table(torch.where(mask == 7, self.head(x).argmax(-1), ids))"))
    assert "1028" in bounds(find("self.table(self.head(x).argmax(-1).masked_fill(mask == 7, 0))"))
    assert "1028" not in bounds(find("d = self.head(x).argmax(-1)\nself.table(d.masked_fill(d + 1 > 1024, 0))"))


@pytest.mark.parametrize(
    "body",
    [
        "t = self.head(x).argmax(-1).tolist()\nif 1027 in t:\n    t = t[: t.index(1027)]\nself.table(t)",
        "t = self.head(x).argmax(-1)\nif t.max() >= 1024:\n    t = unknown(t)\nself.table(t)",
    ],
)
def test_a_branch_on_the_ids_themselves_ends_the_trail(find: Find, body: str) -> None:
    assert not bounds(find(body))


@pytest.mark.parametrize(
    "body",
    [
        "l = self.head(x)\nv, _ = torch.topk(l, 3)\nl[l < v[:, [-1]]] = -float('inf')\nself.table(l.argmax(-1))",
        "self.table(torch.stack([self.head(x), self.head(x)], dim=1).argmax(-1))",
        "self.table(torch.cat([self.head(y) for y in unknown], 0).argmax(-1))",
        "ls = []\nfor y in x:\n    ls.append(self.head(y))\nself.table(torch.stack(ls).argmax(-1))",
        "self.table(self.head(x).flatten(0, 1).argmax(-1))",
        "l = self.head(x)\nself.table(l.view(-1, l.size(-1)).argmax(-1))",
        "l = self.head(x)\nself.table(l.reshape(-1, l.shape[-1]).argmax(-1))",
        "self.table([int(t) for t in self.head(x).argmax(-1).tolist()])",
    ],
)
def test_scores_keep_their_classes(find: Find, body: str) -> None:
    assert bounds(find(body)) == {"1028"}


@pytest.mark.parametrize(
    "body",
    [
        "l = self.head(x)\nl[..., 1024:] = -float('inf')\nself.table(l.argmax(-1))",
        "self.table(torch.stack([self.head(x), self.head(x)], dim=-1).argmax(-1))",
        "self.table(torch.cat([self.head(x), self.head(x)], -1).argmax(-1))",
        "self.table(self.head(x).flatten(1).argmax(-1))",
        "self.table(torch.stack([self.head(x), unknown(x)]).argmax(-1))",
    ],
)
def test_classes_that_are_masked_or_joined_are_unknown(find: Find, body: str) -> None:
    assert not bounds(find(body))
