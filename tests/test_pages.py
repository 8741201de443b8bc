"""The pages of `modellint report` and `modellint map`, in a real browser: no script fails, and axe has no objection."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsers import driven, needs, served_folder
from test_documented_commands import FOLDER

from modellint.examples import materialise

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parent.parent / "examples"

pytestmark = [needs("axe-core"), pytest.mark.dear]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a folder with a report and two maps."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(EXAMPLES, folder / "project")
    materialise(FOLDER, folder / "project")
    recipe = folder / "project/speechbrain/broken/training/hparams.yaml"
    published = folder / "project/models/my-bert"
    commands = [
        ["report", str(folder / "project"), "--isolated", "--output-file", str(folder / "report.html")],
        *(
            ["map", str(target), "--output-format", "html", "--output-file", str(folder / page)]
            for target, page in ((recipe, "recipe.html"), (published, "folder.html"))
        ),
    ]
    for command in commands:
        subprocess.run([sys.executable, "-m", "modellint", *command], check=True, capture_output=True)
    with served_folder(folder) as address:
        yield address


@pytest.mark.parametrize("page", ["report.html", "recipe.html", "folder.html"])
def test_it_is_accessible(pages: str, page: str) -> None:
    _, heading, objections = driven(pages, ("open", page), ("text", "h1"), ("axe",))
    assert heading
    assert objections == []
