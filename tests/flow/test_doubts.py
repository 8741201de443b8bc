"""Operations that torch allows and that are seldom meant: all pairs of two tensors, scores of a single class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.flow.queries import doubtful_operations
from modellint.flow.shapes.doubts import doubt_of_pair
from modellint.flow.shapes.shape import Dim, Shape, unknown
from modellint.graph.size import Size, Symbol
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

BATCH, COUNT = (Dim(Size.symbol(Symbol("", name))) for name in ("batch", "count"))


def shape(*sizes: int | Dim) -> Shape:
    return Shape(tuple(one if isinstance(one, Dim) else Dim.of(one) for one in sizes))


def doubts(folder: Path, body: str) -> list[str]:
    """The kinds of doubts about lines of a function."""
    path = folder / "model.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    head = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
    path.write_text(f"{head}def run(x, count, place):\n{lines}")
    project = Project(ProjectOptions(folder))
    module = project.python(path)
    assert module is not None
    return [one.kind for one in doubtful_operations(module, project)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (shape(8), shape(8, 1)),
        (shape(8, 8), shape(8, 8, 1)),
        (shape(BATCH), shape(BATCH, 1)),
    ],
)
def test_a_row_meets_a_column(one: Shape, other: Shape) -> None:
    for left, right in ((one, other), (other, one)):
        found = doubt_of_pair(left, right)
        assert found is not None
        assert (found.kind, found.left, found.right) == ("doubt-pairs", left, right)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (shape(8), shape(8)),
        (shape(8, 1), shape(8, 1)),
        (shape(8, 1), shape(1, 8)),  # written so on purpose
        (shape(1), shape(1, 1)),
        (shape(8), shape(4, 1)),
        (shape(BATCH), shape(COUNT, 1)),
        (shape(), shape(8, 1)),
        (shape(8), shape(5, 8)),
        (shape(2, 8), shape(8, 1, 8)),
        (unknown(None), shape(8, 1)),
        (shape(8), unknown("input")),
    ],
)
def test_no_doubt_about_a_pair(one: Shape, other: Shape) -> None:
    assert doubt_of_pair(one, other) is None
    assert doubt_of_pair(other, one) is None


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("return F.mse_loss(torch.ones(4, 1), torch.ones(4))", ["doubt-pairs"]),
        ("return nn.L1Loss()(torch.ones(4), torch.ones(4, 1))", ["doubt-pairs"]),
        ("return F.mse_loss(torch.ones(4, 1), target=torch.ones(4))", ["doubt-pairs"]),
        ("return F.mse_loss(torch.ones(4, 1), torch.ones(4, 1))", []),
        ("return F.mse_loss(torch.ones(4, 1), x)", []),
        ("return ((torch.ones(4, 1) - torch.ones(4)) ** 2).mean()", ["doubt-pairs"]),
        ("return (torch.ones(4, 1) - torch.ones(4)).argmax()", []),
        ("return torch.softmax(nn.Linear(3, 1)(torch.ones(4, 3)), dim=1)", ["doubt-single"]),
        ("return nn.Linear(3, 1)(torch.ones(4, 3)).argmax(-1)", ["doubt-single"]),
        ("return nn.Linear(3, 1)(torch.ones(4, 3)).argmax()", []),
        ("return nn.Linear(3, 1)(torch.ones(4, 3)).argmax(place)", []),
        ("return torch.max(nn.Linear(3, 1)(torch.ones(4, 3)), 1)[1]", ["doubt-single"]),
        ("return nn.Linear(3, 1)(torch.ones(4, 3)).max(dim=1, keepdim=True).indices", ["doubt-single"]),
        ("return nn.Linear(3, 1)(torch.ones(4, 3)).max(dim=1).values", []),
        ("return nn.Linear(3, 1)(torch.ones(4, 3)).max()", []),
        ("return torch.max(nn.Linear(3, 1)(torch.ones(4, 3)), torch.ones(4, 1))", []),
        ("return nn.Linear(3, count)(torch.ones(4, 3)).argmax(1)", []),
        ("return torch.ones(4, 1).argmax(1)", []),
    ],
)
def test_doubts_about_calls(tmp_path: Path, body: str, kinds: list[str]) -> None:
    assert doubts(tmp_path, body) == kinds
