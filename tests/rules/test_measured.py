"""Whether what a function rounds may have been measured: asked before anything is run."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml305_grid_below_one.grids import Grids

from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

FLOOR = """\
def floor(side, patch=14):
    return side // patch * patch


"""


def may_be_measured(folder: Path, code: str) -> bool:
    """Whether `floor` may round what somebody has measured."""
    (folder / "patches.py").write_text(FLOOR + dedent(code))
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "patches.py")
    assert module is not None
    return project.of(Grids).measured.rounds_measured(module.functions["floor"])


@pytest.mark.parametrize(
    "code",
    [
        """
        def cut(image):
            return floor(image.shape[-1])
        """,
        """
        def cut(image):
            height, width = image.size
            return floor(patch=2, side=width)
        """,
        """
        def scaled(side, scale):
            return floor(int(side * scale))

        def cut(image):
            return scaled(image.shape[-1], 2)
        """,
        """
        def side_of(image):
            return image.shape[-1]

        def cut(image):
            return floor(side_of(image))
        """,
        """
        class Cutter:
            def measure(self, image):
                self.side = image.shape[-1]

            def cut(self):
                return floor(self.side)
        """,
        """
        def cut(image):
            return list(map(floor, image.shape[-2:]))
        """,
        """
        def cut(image, **options):
            sides = {"side": image.shape[-1], **options}
            return floor(**sides)
        """,
    ],
)
def test_what_reaches_the_division_from_a_measurement_may_be_measured(tmp_path: Path, code: str) -> None:
    assert may_be_measured(tmp_path, code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        """
        def build(width=64):
            return floor(width * 3)
        """,
        """
        def build(image, width=64):
            return image.shape, floor(width)
        """,
        """
        class Stem:
            def __init__(self, width):
                self.width = width
                self.inner = floor(self.width)

            def forward(self, image):
                return image.shape
        """,
    ],
)
def test_settings_are_not_measured(tmp_path: Path, code: str) -> None:
    assert not may_be_measured(tmp_path, code)
