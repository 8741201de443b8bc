"""Which files can hold what is asked about torch, by what they import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.flow.queries import flow
from modellint.link.project import Project, ProjectOptions
from modellint.link.values.torch_reach import reaches_torch

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.python import ModuleFacts

GAME = """\
class Board:
    def __init__(self, size):
        self.moves = np.arange(size)

    def best(self, scores):
        return self.moves[scores.argmax(-1)]
"""
HELPERS = {
    "layers.py": "import torch\n",
    "through.py": "from layers import torch as library\n",
    "plain.py": "import math\n",
    "round.py": "from round import other\nimport game\n",
    "package/__init__.py": "from layers import *\n",
    "package/inner.py": "SIZE = 3\n",
}


def read(folder: Path, head: str) -> tuple[ModuleFacts, Project]:
    for name, text in {**HELPERS, "game.py": f"{head}\n\n{GAME}"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "game.py")
    assert module is not None
    return module, project


@pytest.mark.parametrize(
    "head",
    [
        "import torch",
        "from torch import arange",
        "import layers",
        "from through import library",
        "from layers import *",
        "import package.inner",
        "from package.inner import SIZE",
        "def load():\n    import layers",
        "def load():\n    from layers import torch as library",
        "def load():\n    from . import layers",
        "import importlib\n\nlibrary = importlib.import_module(NAME)",
        "import speechbrain as sb",
        "import transformers",
        "def padded(ids, mask):\n    return ids.masked_fill(mask == 0, -100)",
        "from lightning import LightningModule\n\n\nclass Player(LightningModule):\n    pass",
    ],
)
def test_a_file_that_may_have_to_do_with_torch_is_asked(head: str, tmp_path: Path) -> None:
    module, project = read(tmp_path, head)
    assert reaches_torch(module, project)


@pytest.mark.parametrize(
    "head",
    [
        "import numpy as np",
        "import numpy as np\nfrom numba import njit",
        "import os.path\nfrom plain import math",
        "def told(game):\n    return game.next_move(3)",
        "import round",
        "def load():\n    import plain, json",
        "import unread\n\n\nclass Error(ValueError):\n    pass",
    ],
)
def test_a_file_that_has_nothing_to_do_with_torch_is_not_run(head: str, tmp_path: Path) -> None:
    module, project = read(tmp_path, head)
    assert not reaches_torch(module, project)
    asked = flow(module, project)
    assert not [*asked.lookups(), *asked.padded_positions(), *asked.constants_written(), *asked.padded_tables()]
    assert not project.runs


def test_the_code_of_a_file_is_told_from_its_comments_once(tmp_path: Path) -> None:
    module, _ = read(tmp_path, "import torch  # and comments")
    assert "comments" not in module.code
    assert module.code is module.code
    module.release_source()
    assert "code" not in module.__dict__
