"""The types of numpy's arrays that become tensors, as numpy 2 gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.flow.shapes.shown import shapes_on_lines
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

TYPES = [
    ("np.zeros((2, 3))", "float64"),
    ("np.ones(3, dtype=np.float32)", "float32"),
    ("np.zeros(3, int)", "int64"),
    ("np.empty((2,), np.float32)", "float32"),
    ("np.eye(3)", "float64"),
    ("np.linspace(0, 1, 5)", "float64"),
    ("np.full((2, 3), 7)", "int64"),
    ("np.full((2, 3), 0.5)", "float64"),
    ("np.full((2, 3), 7, np.float32)", "float32"),
    ("np.array([1, 2])", "int64"),
    ("np.array([1.0, 2])", "float64"),
    ("np.array([[1.5, 2.5]])", "float64"),
    ("np.array([True, False])", "bool"),
    ("np.array([1, 2], dtype=np.float32)", "float32"),
    ("np.array([1, 2], np.int32)", "int32"),
    ('np.asarray([0.1], dtype="float32")', "float32"),
    ("np.arange(5)", "int64"),
    ("np.arange(0, 1, 0.1)", "float64"),
    ("np.arange(5, dtype=np.float32)", "float32"),
    ("np.sin(np.arange(5))", "float64"),
    ("np.sqrt(np.ones(3, dtype=np.float32))", "float32"),
    ("np.abs(np.arange(5))", "int64"),
    ("np.flip(np.zeros(3))", "float64"),
    ("np.zeros_like(np.arange(5))", "int64"),
    ("np.ones_like(np.arange(5), dtype=float)", "float64"),
    ("np.cumsum(np.array([1, 2]))", "int64"),
    ("np.random.rand(3)", "float64"),
    ("np.random.randn(2, 3)", "float64"),
    ("np.random.random((2, 3))", "float64"),
    ("np.random.randint(0, 5, (2,))", "int64"),
    ("np.zeros(3).astype(np.float32)", "float32"),
    ('np.zeros(3).astype("int64")', "int64"),
    ("np.zeros(3).astype(int)", "int64"),
    ("np.arange(6).reshape(2, 3)", "int64"),
    ("np.zeros(3, dtype=np.float32).copy()", "float32"),
    ("np.arange(4) + 1", "int64"),
    ("np.arange(4) * 0.5", "float64"),
    ("np.arange(4) / 2", "float64"),
    ("np.ones(3, dtype=np.float32) * 2.0", "float32"),
    ("np.ones(3, dtype=np.float32) - np.ones(3, dtype=np.float32)", "float32"),
    ("np.zeros((2, 3)).T", "float64"),
    ("np.clip(np.arange(5), 0, 3)", "int64"),
    ("np.cumsum(np.array([True, False]))", "int64"),
    ("np.sin(np.array([True, False]))", "float16"),
    ("np.sin(np.array([1], dtype=np.int8))", "float16"),
    ("np.sort(np.array([1.0], dtype=np.float32))", "float32"),
    ("np.log(np.array([1], dtype=np.int16))", "float32"),
    ("np.arange(4, dtype=np.int32) / 2", "float64"),
    ("np.arange(4, dtype=np.int32) * 0.5", "float64"),
    ("np.array([True]) * 2", "int64"),
    ("np.array([True]) + np.array([True])", "bool"),
    ("np.exp(np.array([1], dtype=np.uint8))", "float16"),
    ("np.logspace(0, 1, 3)", "float64"),
    ("np.linspace(0, 1, 5, dtype=np.float32)", "float32"),
    ("np.eye(3, dtype=np.float32)", "float32"),
    ("np.identity(2)", "float64"),
    ("np.zeros(3).round()", "float64"),
    ("np.arange(3.0)", "float64"),
    ("np.full(3, True)", "bool"),
    ("np.array([1, 2]).clip(0, 1)", "int64"),
    ("np.zeros_like(np.zeros(3, dtype=np.float32))", "float32"),
    ("np.cumsum(np.array([1], dtype=np.int32))", "int64"),
    ("np.array([1], dtype=np.int8) * 2", "int8"),
    ("np.array([True, False]).T", "bool"),
    ("np.sin(np.array([1, 2], dtype=np.float16))", "float16"),
    ("np.negative(np.array([1.0]))", "float64"),
    ("np.arange(4).reshape(2, 2) - np.ones((2, 2), int)", "int64"),
]
#: What has no type of torch, is refused by numpy, or is not looked into.
UNKNOWN = [
    "np.square(np.array([True, False]))",
    "np.abs(np.array([1 + 2j]))",
    "np.cumsum(np.array([1], dtype=np.uint8))",
    "np.arange(3) * 2j",
    "np.arange(3) + np.ones(3)",
    "np.zeros(3, dtype=kind)",
    "np.array(values)",
    "np.random.rand()",
    "np.zeros(3).sum()",
    "np.zeros(*sizes)",
]


def types_of(folder: Path, made: list[str]) -> list[str]:
    """The types that are told of tensors made of arrays; empty where none is."""
    path = folder / "model.py"
    lines = [f"    made{number} = torch.from_numpy({one})" for number, one in enumerate(made)]
    body = "\n".join(lines)
    path.write_text(f"import numpy as np\nimport torch\n\n\ndef run(kind, values, sizes):\n{body}\n    return made0\n")
    project = Project(ProjectOptions(folder))
    module = project.python(path)
    assert module is not None
    shown = {one.name: one.dtype for one in shapes_on_lines(module, project, module.placed.values())}
    return [shown.get(f"made{number}") or "" for number in range(len(made))]


def test_arrays_have_the_types_that_numpy_gives(tmp_path: Path) -> None:
    found = types_of(tmp_path, [made for made, _ in TYPES])
    assert list(zip([made for made, _ in TYPES], found, strict=True)) == TYPES


@pytest.mark.parametrize("made", UNKNOWN)
def test_arrays_of_unknown_types(tmp_path: Path, made: str) -> None:
    assert types_of(tmp_path, [made]) == [""]
