"""Which files of a project mention a word, and what is said where too many would have to be searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link import searched
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

FILES = {
    "layers.py": "class Größe:\n    pass\n\n\ndef build(width):\n    return Größe()\n",
    "uses.py": "from layers import build\n\nsize = build(3)  # no class Größe is named\n",
    "builder.py": "rebuild = 'build_all'\n",
}
CLASSES = {
    "base.py": "from torch import nn\n\n\nclass Base(nn.Module):\n"
    "    def forward(self, x):\n        return self.head(x)\n",
    "model.py": "from torch import nn\n\nfrom base import Base\n\n\nclass Model(Base):\n    def __init__(self):\n"
    "        super().__init__()\n        self.heads = nn.Linear(2, 2)\n        self.norm = nn.LayerNorm(2)\n",
}


def mentioning(folder: Path, *words: str) -> set[str]:
    project = Project(ProjectOptions(root=folder))
    near = project.python(folder / "layers.py")
    assert near is not None
    found = {module.file.name for module in searched.mentioning(project, near, *words)}
    assert searched.are_mentioned(project, near, *words) is bool(found - {"layers.py"})
    return found


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("build",), {"layers.py", "uses.py"}),
        (("build", "width"), {"layers.py"}),
        (("def build",), {"layers.py"}),
        (("class Größe",), {"layers.py", "uses.py"}),
        (("Größ",), set()),
    ],
)
def test_a_file_mentions_whole_words(tmp_path: Path, words: tuple[str, ...], found: set[str]) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert mentioning(tmp_path, *words) == found


@pytest.mark.parametrize("most", [1, 2])
def test_a_project_that_is_too_large_to_be_searched_is_not_judged(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(searched, "_MAX_PROJECT", most)
    workspace.write(CLASSES)
    found = [("base.py", 6, "ML214"), ("model.py", 9, "ML213"), ("model.py", 10, "ML213")]
    assert workspace.places("base.py", "model.py") == (found if most == len(CLASSES) else [])
