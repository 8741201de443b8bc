"""Which files of a project mention a word, and what is said where too many would have to be searched."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from modellint.flow import queries
from modellint.link import searched
from modellint.link.project import Project, ProjectOptions
from modellint.reading import mentioning as search
from modellint.reading.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

FILES = {
    "layers.py": "class Größe:\n    pass\n\n\ndef build(width):\n    return Größe()\n",
    "uses.py": "from layers import build\n\nsize = build(3)  # no class Größe is named\n",
    "builder.py": "rebuild = 'build_all'\n",
    "rebound.py": "self = object()\nself.mine = 1\n",
    "parts.py": "class Part:\n    def run(self, other):\n        self.own = self.own + other.shared\n"
    "        return other(self)\\\n            .far, herself.near\n",
}
#: Files with classes that derive from `Größe`, by the way they say it, and files with others.
DERIVED = {
    "plain.py": "import layers\n\nclass One(layers.Größe):\n    pass\n",
    "second.py": "class Two[T: int](\n    dict,  # (a mapping\n    Größe,\n):\n    pass\n",
    "index.py": "class Three(Größe[int], metaclass=Meta):\n    pass\n",
    "renamed.py": "from layers import Größe as Size\n\nclass Four(Size):\n    pass\n",
    "bound.py": "Size: type = layers.Größe\n\nclass Five(Size):\n    pass\n",
    "made.py": "def base():\n    return Größe\n\nclass Six(base()):\n    pass\n",
    "far.py": "class Seven(dict):\n    def grow(self):\n        return Größe()\n",
    "part.py": "class Eight(list[Größe], kind=int):\n    pass\n",
    "none.py": "class Größer:\n    size = Größe\n",
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
    assert queries.is_mentioned_elsewhere(near, project, *words) is bool(found - {"layers.py"})
    return found


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (("build",), {"layers.py", "uses.py"}),
        (("build", "width"), {"layers.py"}),
        (("def build",), {"layers.py"}),
        (("class Größe",), {"layers.py", "uses.py"}),
        (("Größ",), set()),
        ((". own",), set()),
        ((". shared",), {"parts.py"}),
        ((". share",), set()),
        ((". far",), {"parts.py"}),
        ((". mine",), {"rebound.py"}),
        ((". near", "run"), {"parts.py"}),
        (("' build_all",), {"builder.py"}),
        (("' build",), set()),
    ],
)
@pytest.mark.parametrize("searches", [0, 64], ids=["index", "search"])
def test_a_file_mentions_whole_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...], found: set[str], searches: int
) -> None:
    monkeypatch.setattr(search, "_MAX_SEARCHES", searches)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert mentioning(tmp_path, *asked) == found


@pytest.mark.parametrize("searches", [0, 64], ids=["index", "search"])
def test_a_file_may_derive_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searches: int) -> None:
    monkeypatch.setattr(search, "_MAX_SEARCHES", searches)
    for name, text in (FILES | DERIVED).items():
        (tmp_path / name).write_text(text, "utf-8")
    derived = {"plain.py", "second.py", "index.py", "renamed.py", "bound.py", "made.py"}
    assert mentioning(tmp_path, "base Größe") == derived
    assert mentioning(tmp_path, "base Größ") == set()


@pytest.mark.parametrize("searches", [0, 64], ids=["index", "search"])
def test_what_rests_on_words_changes_with_what_mentions_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searches: int
) -> None:
    """A key comes back from `update` exactly where its answer has changed, and its fingerprint holds elsewhere."""
    monkeypatch.setattr(search, "_MAX_SEARCHES", searches)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    files = Files()
    with files.trace() as keys:
        answers = {asked: files.mentioning(tmp_path, asked) for asked in ("build", "width", "other")}
    assert answers["build"] == (tmp_path / "layers.py", tmp_path / "uses.py")
    assert {key.replace("\0", " ") for key in keys} == {f"mentions:{tmp_path} {asked}" for asked in answers}
    prints = {key: files.fingerprint(key) for key in keys}

    def after(name: str, text: str | None) -> set[str]:
        (tmp_path / name).unlink(missing_ok=True) if text is None else (tmp_path / name).write_text(text, "utf-8")
        changed = files.update(tmp_path / name, None) & keys
        later = Files()
        assert {key for key in keys if not later.holds(key, prints[key])} == changed
        assert {key for key in keys if not files.holds(key, prints[key])} == changed
        prints.update({key: files.fingerprint(key) for key in keys})
        return {key.rpartition("\0")[2] for key in changed}

    assert after("uses.py", "import build as other  # one more\n") == {"other"}
    assert after("uses.py", "import build as other\n") == set()
    assert after("uses.py", "nothing = 0\n") == {"build", "other"}
    assert after("new.py", "width = 1\n") == {"width"}
    assert after("new.py", None) == {"width"}
    assert after("layers.py", None) == {"build", "width"}
    assert files.mentioning(tmp_path, "build") == ()


@pytest.mark.parametrize("most", [1, 2])
def test_a_project_that_is_too_large_to_be_searched_is_not_judged(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(search, "MAX_FILES", most)
    workspace.write(CLASSES)
    found = [("base.py", 6, "ML214"), ("model.py", 9, "ML213"), ("model.py", 10, "ML213")]
    assert workspace.places("base.py", "model.py") == (found if most == len(CLASSES) else [])


def test_a_result_rests_on_who_mentions_a_word_and_not_on_all_files(workspace: Workspace) -> None:
    """`Model.heads` is unused unless a file that mentions it reads it: only such an edit concerns the class."""
    workspace.write(CLASSES | {"other.py": "from model import Model\n\nmodel = Model()\n", "far.py": "y = 1\n"})
    for command in (("init", "-q"), ("add", "-A"), ("-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "-")):
        subprocess.run(["git", *command], cwd=workspace.root, check=True)
    before = workspace.places()
    assert ("model.py", 9, "ML213") in before
    workspace.write({"far.py": "x = 1\n"})
    assert workspace.places() == before
    assert workspace.places("--changed-since", "HEAD") == []
    workspace.write({"other.py": "from model import Model\n\nprint(Model().heads)\n"})
    assert ("model.py", 9, "ML213") not in workspace.places()
    assert [place for place in before if place[2] == "ML213" and place[1] == 10] == workspace.places(
        "--changed-since", "HEAD", "--select", "ML213"
    )
