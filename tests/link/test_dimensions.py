"""Dimensions of tensors that constructors make, and sides of images in whole patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.graph.value import EventKind
from modellint.link.project import Project, ProjectOptions
from modellint.link.values.dimensions import dimensions

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.python import ModuleFacts


def read(text: str, folder: Path) -> tuple[Project, ModuleFacts]:
    (folder / "code.py").write_text(text)
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "code.py")
    assert module is not None
    return project, module


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("torch.zeros(1, n, d)", ("1", "n", "d")),
        ("torch.zeros((n, d)).unsqueeze(0)", (None, "n", "d")),
        ("torch.zeros(n, d)[None]", (None, "n", "d")),
        ("torch.zeros(n, d).unsqueeze(-1)", ("n", "d", None)),
        ("torch.zeros(n, d).transpose(0, 1)", ("d", "n")),
        ("torch.zeros(n, d).t()", ("d", "n")),
        ("torch.zeros(n, d, 2).permute(2, 0, 1)", ("2", "n", "d")),
        ("torch.arange(n)", ("n",)),
        ("torch.arange(0, n)", ("n",)),
        ("torch.arange(0, d, 2)", (None,)),
        ("torch.arange(1, n)", (None,)),
        ("torch.arange(n)[:, None] * 2", ("n", None)),
        ("torch.outer(torch.arange(n), torch.arange(0, d, 2)).cos()", ("n", None)),
        ("torch.einsum('i,j->ij', torch.arange(n), torch.zeros(d))", ("n", "d")),
        ("torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d, 2) / d)", ("n", None)),
        ("torch.cat([torch.zeros(n, d), torch.zeros(n, d)], dim=-1)", ("n", None)),
        ("torch.stack([torch.zeros(n, d), torch.zeros(n, d)])", (None, "n", "d")),
        ("torch.nn.Parameter(torch.randn(n, d))", ("n", "d")),
        ("torch.zeros(n, d)[..., 0]", ("n",)),
        ("torch.zeros(n, d)[1:]", (None, "d")),
        ("torch.full((n, d), 0.5).log2().bfloat16()", ("n", "d")),
        ("torch.concatenate([torch.zeros(n, d), torch.zeros(n, d)])", (None, "d")),
        ("torch.hann_window(n)", (None,)),
    ],
)
def test_dimensions_are_followed_through_what_keeps_or_reorders_them(
    expression: str, expected: tuple[str | None, ...], tmp_path: Path
) -> None:
    project, module = read(f"import torch\n\ndef make(n, d):\n    return {expression}\n", tmp_path)
    frame = project.evaluator.root(module.functions["make"])
    (returned,) = frame.function.flow.of(EventKind.RETURN)
    found = dimensions(returned.value, frame, project.evaluator)
    assert found is not None
    assert tuple(None if part is None else module.text_of(part.value) for part in found) == expected


@pytest.mark.parametrize(
    "expression", ["torch.zeros(*sizes)", "load(n)", "torch.zeros(n, d).reshape(d, n)", "torch.zeros(n, d) @ w"]
)
def test_other_tensors_have_unknown_dimensions(expression: str, tmp_path: Path) -> None:
    project, module = read(f"import torch\n\ndef make(n, d, w, sizes, load):\n    return {expression}\n", tmp_path)
    frame = project.evaluator.root(module.functions["make"])
    (returned,) = frame.function.flow.of(EventKind.RETURN)
    assert dimensions(returned.value, frame, project.evaluator) is None


def test_a_helper_that_makes_the_tensor_is_followed(tmp_path: Path) -> None:
    project, module = read(
        "import torch\n\ndef table(rows):\n    return torch.zeros(rows, 4)\n\n"
        "def make(n):\n    t = table(n)\n    t[:, 0] = 1\n    return t\n",
        tmp_path,
    )
    frame = project.evaluator.root(module.functions["make"])
    (returned,) = frame.function.flow.of(EventKind.RETURN)
    found = dimensions(returned.value, frame, project.evaluator)
    assert found is not None
    assert found[0] is not None
    assert project.evaluator.size(found[0].value, found[0].frame) == project.evaluator.size(
        next(e for e in frame.function.flow.of(EventKind.CALL)).value.positional[0], frame
    )


def rounded(body: str, folder: Path) -> list[str]:
    """The divisions that round the sides of an image which a function is given, as they are written."""
    project, module = read(f"import math\n\ndef cut(image, patch):\n{body}", folder)
    return [module.text_of(side.division.value) for side in project.grids.rounded_sides(module.functions["cut"])]


USE = "    return image.reshape(h // patch, patch, -1)\n"


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("image.shape[0] // patch * patch", ["image.shape[0] // patch"]),
        ("int(image.shape[0] / patch) * patch", ["int(image.shape[0] / patch)"]),
        ("patch * (image.shape[0] // patch)", ["image.shape[0] // patch"]),
        ("max(patch, image.shape[0] // patch * patch)", []),
        ("max(1, image.shape[0] // patch) * patch", []),
        ("math.ceil(image.shape[0] / patch) * patch", []),
        ("(image.shape[0] + patch - 1) // patch * patch", []),
        ("max(patch, image.shape[0]) // patch * patch", []),
        ("patch // 2 * 2", []),
        ("image.shape[0] // patch", []),
        ("image.shape[0]", []),
    ],
)
def test_a_side_is_followed_to_where_it_is_rounded_down(length: str, expected: list[str], tmp_path: Path) -> None:
    assert rounded(f"    h = {length}\n{USE}", tmp_path) == expected


@pytest.mark.parametrize(
    "guard",
    [
        "if image.shape[0] < patch:\n        raise ValueError",
        "assert min(image.shape[0], 9) >= patch",
        "if h == 0:\n        raise ValueError",
    ],
)
def test_a_comparison_of_the_side_ends_the_trail(guard: str, tmp_path: Path) -> None:
    assert rounded(f"    h = image.shape[0] // patch * patch\n    {guard}\n{USE}", tmp_path) == []


@pytest.mark.parametrize("expression", ["torch.Tensor([n, d])", "torch.outer(*(n, d))", "torch.zeros(*n)"])
def test_numbers_that_are_no_sizes_are_no_dimensions(expression: str, tmp_path: Path) -> None:
    project, module = read(f"import torch\n\ndef make(n, d):\n    return {expression}\n", tmp_path)
    frame = project.evaluator.root(module.functions["make"])
    (returned,) = frame.function.flow.of(EventKind.RETURN)
    assert dimensions(returned.value, frame, project.evaluator) is None
