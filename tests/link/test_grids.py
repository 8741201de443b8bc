"""Sides of images in whole patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.python import ModuleFacts


def read(text: str, folder: Path) -> tuple[Project, ModuleFacts]:
    (folder / "code.py").write_text(text)
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "code.py")
    assert module is not None
    return project, module


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
