"""Sides of images in whole patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from modellint_rules.ml305_grid_below_one.grids import Grids
from modellint_rules.ml305_grid_below_one.rounding import Fate, rounding

from modellint.flow.queries.runs import Run
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.python import Function, ModuleFacts


def read(text: str, folder: Path) -> tuple[Project, ModuleFacts]:
    (folder / "code.py").write_text(text)
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "code.py")
    assert module is not None
    return project, module


def rounded(text: str, folder: Path) -> list[str]:
    """What rounds the sides of an image down to nothing, as it is written."""
    project, module = read(f"import math\nimport numpy as np\n\n{text}", folder)
    found = (use.side.rounding for use in project.of(Grids).rounded_sides(module))
    return [module.text_of(rounding.value) for rounding in found if rounding is not None]


def cut(body: str, folder: Path) -> list[str]:
    """The same of a function that cuts an image into patches; what is done to its width is right."""
    return rounded(f"def cut(image, patch, limit=64):\n{body}", folder)


USE = """\
    w = -(-image.shape[1] // patch) * patch
    return image.reshape(h // patch, patch, max(1, image.shape[1] // patch), patch)
"""


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        ("image.shape[0] // patch * patch", ["image.shape[0] // patch"]),
        ("int(image.shape[0] / patch) * patch", ["int(image.shape[0] / patch)"]),
        ("patch * (image.shape[0] // patch)", ["image.shape[0] // patch"]),
        ("int(np.floor(image.shape[0] / patch)) * patch", ["np.floor(image.shape[0] / patch)"]),
        (
            "image.shape[0] - image.shape[0] % patch",
            ["image.shape[0] - image.shape[0] % patch"],
        ),
        ("min(image.shape[0] // patch * patch, limit)", ["image.shape[0] // patch"]),
        (
            "int(image.shape[0] / math.sqrt(image.shape[0] * image.shape[1] / limit)) // patch * patch",
            ["int(image.shape[0] / math.sqrt(image.shape[0] * image.shape[1] / limit)) // patch"],
        ),
        ("max(patch, image.shape[0] // patch * patch)", []),
        ("max(1, image.shape[0] // patch) * patch", []),
        ("image.shape[0] // patch * patch or patch", []),
        ("math.ceil(image.shape[0] / patch) * patch", []),
        ("(image.shape[0] + patch - 1) // patch * patch", []),
        ("max(patch, image.shape[0]) // patch * patch", []),
        ("int(image.shape[0] * limit / min(image.shape)) // patch * patch", []),
        ("image.shape[0] // patch * limit", []),
        ("patch // 2 * 2", []),
        ("image.shape[0] // patch", []),
        ("image.shape[0]", []),
    ],
)
def test_a_side_is_followed_to_where_it_is_used(length: str, expected: list[str], tmp_path: Path) -> None:
    assert cut(f"    h = {length}\n{USE}", tmp_path) == expected


@pytest.mark.parametrize(
    "guard",
    [
        "if image.shape[0] < patch:\n        raise ValueError",
        "assert min(image.shape[0], 9) >= patch",
        "if h == 0:\n        raise ValueError",
        "if not h:\n        return None",
        "if image.shape[0] % patch:\n        raise ValueError",
        "if any(side < patch for side in (image.shape[0], image.shape[1])):\n        raise ValueError",
        "if not all((h, limit)):\n        raise ValueError",
        "check(image.shape[0], patch)",
    ],
)
def test_a_comparison_that_refuses_a_small_side_ends_the_trail(guard: str, tmp_path: Path) -> None:
    check = "def check(side, patch):\n    if side < patch:\n        raise ValueError\n\n\n"
    body = f"    h = image.shape[0] // patch * patch\n    {guard}\n{USE}"
    assert rounded(f"{check}def cut(image, patch, limit=64):\n{body}", tmp_path) == []


@pytest.mark.parametrize(
    "guard",
    [
        "if image.shape[0] > limit:\n        raise ValueError",
        "if image.shape[0] <= 0:\n        raise ValueError",
        "if max(image.shape[0], image.shape[1]) < patch:\n        raise ValueError",
        "if image.shape[1] < patch:\n        raise ValueError",
        "if image.shape[0] < patch:\n        print(h)",
    ],
)
def test_one_that_says_nothing_of_a_small_side_does_not(guard: str, tmp_path: Path) -> None:
    body = f"    h = image.shape[0] // patch * patch\n    {guard}\n{USE}"
    assert cut(body, tmp_path) == ["image.shape[0] // patch"]


def test_one_dimension_alone_is_no_grid(tmp_path: Path) -> None:
    body = "    n = image.shape[0] // patch * patch\n    return image[:n].reshape(n // patch, patch, limit)\n"
    assert cut(body, tmp_path) == []


def test_what_a_constructor_is_given_is_a_setting(tmp_path: Path) -> None:
    code = """
class Cutter:
    def __init__(self, table):
        self.table = table

    def cut(self, image, patch):
        h, w = self.table.shape
        h, w = h // patch * patch, w // patch * patch
        return image.reshape(h // patch, patch, w // patch, patch)
"""
    assert rounded(code, tmp_path) == []


@pytest.mark.parametrize(
    ("body", "fate"),
    [
        ("return x // 2 * 2", Fate.MULTIPLIED | Fate.RETURNED),
        ("return x // 2", Fate.RETURNED),
        ("return int(x / 2)", Fate.RETURNED),
        ("self.n = x // 2", Fate.PASSED),
        ("helper(x // 2)", Fate.PASSED),
        ("y = x - x % 2\n    print(y)", Fate.MULTIPLIED),
        ("return x / 2", Fate.NOTHING),
        ("return y[: 12 // 2]", Fate.NOTHING),
    ],
)
def test_what_becomes_of_a_ratio_tells_whether_a_function_matters(body: str, fate: Fate, tmp_path: Path) -> None:
    _, module = read(f"def f(self, x, y):\n    {body}\n", tmp_path)
    assert rounding(module.functions["f"]) == fate


def test_a_script_that_calls_its_own_function_of_that_name_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[str] = []
    follow = Run.follow

    def noted(within: Run[Any], function: Function) -> None:
        run.append(f"{function.module.file.stem}.{function.name}")
        follow(within, function)

    monkeypatch.setattr(Run, "follow", noted)
    head, main = (
        "from data import load\n\n\ndef cut(image, patch):\n",
        "\nif __name__ == '__main__':\n    cut(load(), 14)\n",
    )
    text = f"{head}    h = image.shape[0] // patch * patch\n{USE}{main}"
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(text)
    shown = "def explained(image, patch):\n    print('how to cut an image')\n    return image.reshape(patch, -1)\n"
    (tmp_path / "options.py").write_text(f"from code import cut\n\n\n{shown}")
    project, module = read(text, tmp_path)
    assert len(list(project.of(Grids).rounded_sides(module))) == 1
    assert set(run) == {"code.<module>"}
