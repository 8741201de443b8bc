"""The sizes of tensors on paper, and the lengths that only a run knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.flow.domain import ANY_ARGUMENTS, FunctionRef, Length, size_of
from modellint.flow.frame import class_frame
from modellint.flow.runs import tensor_run
from modellint.flow.sizes import of
from modellint.flow.table_reads import TableReads
from modellint.graph.value import Op, Value
from modellint.link.classes.definitions import SourceMethod
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from modellint.flow.domain import Atoms, Sizes

    Give = Callable[[str], Atoms]


@pytest.fixture
def give(tmp_path: Path) -> Give:
    """What the function `make` of a file gives, with any arguments."""

    def found(text: str) -> Atoms:
        (tmp_path / "code.py").write_text(f"import einops\nimport math\nimport torch\n\n{text}")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(tmp_path / "code.py")
        assert module is not None
        run = tensor_run(project, TableReads)[0]
        code = SourceMethod(module.functions["make"], project.names)
        frame = class_frame(code.scope, 0)
        return run.calls.apply(FunctionRef(code), ANY_ARGUMENTS, frame, Value(Op.UNKNOWN, (), None, None))

    return found


def named(sizes: Sizes | None) -> tuple[str | None, ...] | None:
    return sizes and tuple(side and ("?" if isinstance(side, Length) else str(side)) for side in sizes)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("torch.zeros(1, n, d)", ("1", "n", "d")),
        ("torch.zeros(size=(n, d))", ("n", "d")),
        ("torch.zeros((n, d)).unsqueeze(0)", ("1", "n", "d")),
        ("torch.zeros(n, d)[None]", ("1", "n", "d")),
        ("torch.zeros(n, d).unsqueeze(-1)", ("n", "d", "1")),
        ("torch.zeros(n, d).transpose(0, 1)", ("d", "n")),
        ("torch.transpose(torch.zeros(n, d), dim0=0, dim1=-1)", ("d", "n")),
        ("torch.zeros(n, d).t()", ("d", "n")),
        ("torch.zeros(n, d).T", ("d", "n")),
        ("torch.zeros(n, d, 2).permute(2, 0, 1)", ("2", "n", "d")),
        ("torch.permute(torch.zeros(n, d, 2), (2, 0, 1))", ("2", "n", "d")),
        ("torch.arange(n)", ("n",)),
        ("torch.arange(0, n)", ("n",)),
        ("torch.arange(end=n, start=0)", ("n",)),
        ("torch.arange(0, d, 2)", (None,)),
        ("torch.arange(1, n)", (None,)),
        ("torch.arange(n)[:, None] * 2", ("n", "1")),
        ("torch.arange(n)[:, None] - torch.arange(d)[None]", ("n", "d")),
        ("torch.outer(torch.arange(n), torch.arange(0, d, 2)).cos()", ("n", None)),
        ("torch.einsum('i,j->ij', torch.arange(n), torch.zeros(d))", ("n", "d")),
        ("torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d, 2) / d)", ("n", None)),
        ("torch.cat([torch.zeros(n, d), torch.zeros(n, d)], dim=-1)", ("n", "2 * d")),
        ("torch.concatenate([torch.zeros(n, d), torch.zeros(n, d)])", ("2 * n", "d")),
        ("torch.stack([torch.zeros(n, d), torch.zeros(n, d)])", (None, "n", "d")),
        ("torch.nn.Parameter(torch.randn(n, d))", ("n", "d")),
        ("torch.zeros(n, d)[..., 0]", ("n",)),
        ("torch.zeros(n, d)[1:]", (None, "d")),
        ("torch.full((n, d), 0.5).log2().bfloat16()", ("n", "d")),
        ("torch.hann_window(n)", (None,)),
        ("torch.zeros(n, d).reshape(d, n)", ("d", "n")),
        ("torch.zeros(n, d).view(-1, n)", ("?", "n")),
        ("einops.rearrange(torch.zeros(n, d), 'n d -> 1 d n')", ("1", "d", "n")),
        ("torch.zeros(x.shape[0], d)", ("?", "d")),
        ("torch.zeros(n, d)[: x.shape[0]]", ("?", "d")),
        ("torch.cat([torch.zeros(x.size(0), d), torch.zeros(1, d)])", ("?", "d")),
    ],
)
def test_sizes_are_followed_through_what_keeps_or_reorders_them(
    give: Give, expression: str, expected: tuple[str | None, ...]
) -> None:
    assert named(of(give(f"def make(n, d, x):\n    return {expression}\n"))) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "torch.zeros(*sizes)",
        "load(n)",
        "torch.zeros(n, d) @ w",
        "torch.Tensor([n, d])",
        "torch.outer(*(n, d))",
        "einops.rearrange(torch.zeros(n, d), '(a b) d -> a b d', a=2)",
        "torch.zeros(n, d)[w]",
        "torch.cat([torch.zeros(n, d), load(n)])",
    ],
)
def test_other_tensors_have_unknown_sizes(give: Give, expression: str) -> None:
    assert not of(give(f"def make(n, d, w, sizes, load):\n    return {expression}\n"))


def test_a_helper_that_makes_the_tensor_is_followed(give: Give) -> None:
    table = "def table(rows):\n    return torch.zeros(rows, 4)\n"
    made = give(f"{table}\ndef make(n):\n    t = table(n)\n    t[:, 0] = 1\n    return t\n")
    assert named(of(made)) == ("n", "4")


@pytest.mark.parametrize(
    "expression",
    [
        "x.shape[1]",
        "x.shape[-1]",
        "x.size(1)",
        "x.size()[1]",
        "x.shape[-2:][0]",
        "len(x)",
        "x.numel()",
        "list(x.shape)[1]",
        "x.shape[1] + 1",
        "1 + n * x.shape[0] // 2",
        "int(x.shape[1] / 2)",
        "math.ceil(x.shape[1] / 2)",
        "max(x.shape[1], n)",
        "x[:, 1:].shape[1]",
        "x[:, : y.shape[1]].shape[1]",
        "[size for size in x.shape][0]",
        "torch.zeros(x.shape[0], 4).shape[0]",
        "torch.cat([x, y], dim=1).shape[1]",
        "(x + y).transpose(1, 2).shape[1]",
    ],
)
def test_what_only_a_run_knows_is_a_length(give: Give, expression: str) -> None:
    atoms = give(f"def make(x, y, n):\n    return {expression}\n")
    assert any(isinstance(atom, Length) for atom in atoms)


@pytest.mark.parametrize(
    "expression",
    [
        "n",
        "min(x.shape[1], 512)",
        "x[:, :512].shape[1]",
        "x[:, :n].shape[1]",
        "x[:, :512].contiguous().shape[1]",
        "torch.zeros(3, 4).shape[0]",
        "torch.zeros(n, 4).size(0)",
        "len([x, y])",
        "x.shape[1] < n",
        "x.ndim",
        "torch.nn.Parameter(torch.zeros(3, 4)).shape[0]",
    ],
)
def test_what_is_limited_or_known_is_no_length(give: Give, expression: str) -> None:
    atoms = give(f"def make(x, y, n):\n    return {expression}\n")
    assert not any(isinstance(atom, Length) for atom in atoms)


@pytest.mark.parametrize(
    ("expression", "size"), [("torch.zeros(3, 4).shape[1]", "4"), ("torch.zeros(n).size(-1)", "n")]
)
def test_a_size_that_is_known_is_that_number(give: Give, expression: str, size: str) -> None:
    assert str(size_of(give(f"def make(n):\n    return {expression}\n"))) == size


def test_the_sizes_are_unpacked(give: Give) -> None:
    (made,) = give("def make(x):\n    batch, _, width = x.shape\n    return torch.zeros(batch, 2, width)\n")
    assert named(of((made,))) == ("?", "2", "?")
