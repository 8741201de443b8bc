"""The index of installed packages: what one project found out makes checks of another one faster, and changes none."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from effort import drawn
from test_kept import OTHER, PROJECT

import modellint
from modellint.flow import memo
from modellint.flow.domain import Constant
from modellint.frontends import python
from modellint.link.portable import Anchors
from modellint.reading.index import FILE_NAME, Index
from modellint.reading.sealed import documents_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

    from modellint.finding import Finding

#: A script that derives from a model of the installed package.
USER = """\
from torch import nn
from model.top import Top
from model.parts import Base


class Mine(Top):
    def __init__(self, width: int = 64):
        super().__init__(width)
        self.heads = [nn.Linear(width, 2)]

    def forward(self, x):
        return [head(super().forward(x)) for head in self.heads]
"""


@pytest.fixture
def projects(tmp_path: Path) -> Callable[[str], Path]:
    """Makes projects with an environment of their own, in which the package `model` is installed."""

    def make(name: str) -> Path:
        root = tmp_path / name
        packages = root / ".venv/lib/python3.11/site-packages"
        for file, text in PROJECT.items():
            (packages / file).parent.mkdir(parents=True, exist_ok=True)
            (packages / file).write_text(text)
        (root / "pyproject.toml").write_text("[tool.modellint]\njobs = 1\n")
        (root / "mine.py").write_text(USER)
        (root / "other.py").write_text(OTHER.replace(".parts", "model.parts"))
        return root

    return make


def found(root: Path, *, cache: bool = True, index: str = "index") -> list[tuple[str, int, str, str]]:
    """The findings in the scripts of a project, from what is kept about other files only."""
    shutil.rmtree(root / ".modellint_cache", ignore_errors=True)
    findings = modellint.check([root], cache=cache, index_dir=str(root.parent / index))
    return [_told(finding) for finding in findings]


def _told(finding: Finding) -> tuple[str, int, str, str]:
    return finding.place.path.rpartition("/")[2], finding.place.span.line, finding.code, finding.message


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are parsed."""
    names: list[str] = []
    outlined = python.outlined

    def noted(source: python.Source, *rest: object) -> object:
        names.append(source.path.name)
        return outlined(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(python, "outlined", noted)
    monkeypatch.setattr(python, "sketched", noted)
    return names


def test_projects_share_what_they_find_out_about_packages(projects: Callable[[str], Path], parsed: list[str]) -> None:
    first, second = projects("first"), projects("second")
    expected = found(first, cache=False)
    assert {code for _, _, code, _ in expected} == {"ML204", "ML103"}
    parsed.clear()
    assert found(first) == expected
    assert set(parsed) == {"mine.py", "other.py", "parts.py", "top.py"}
    parsed.clear()
    assert found(second) == expected
    assert set(parsed) == {"mine.py", "other.py"}


def test_calls_with_constants_are_followed_once(
    projects: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packages ask again and again for what is installed: `if is_available("torch", True): …`."""
    first, second = projects("first"), projects("second")
    for root in (first, second):
        packages = root / ".venv/lib/python3.11/site-packages/model"
        (packages / "flags.py").write_text(
            "NAMES = ('torch', 'numpy')\n\n\ndef is_available(name, is_new=None, least=1.5):\n"
            "    return name in NAMES and is_new and least < 2\n"
        )
        text = (packages / "top.py").read_text()
        (packages / "top.py").write_text(
            text.replace("from .parts", "from .flags import is_available\nfrom .parts").replace(
                "        self.keep(width)\n", "        if is_available('torch', True):\n            self.keep(width)\n"
            )
        )
    followed: list[memo.CallSummary | None] = []
    parts_of = memo._parts_of
    monkeypatch.setattr(memo, "_parts_of", lambda summary: followed.append(summary) or parts_of(summary))
    expected = found(first, cache=False)
    assert any(summary is not None and summary.atoms == (Constant(value=True),) for summary in followed)
    assert found(first) == expected
    followed.clear()
    assert found(second) == expected
    assert followed == []
    packages = second / ".venv/lib/python3.11/site-packages/model"
    (packages / "flags.py").write_text((packages / "flags.py").read_text().replace("'torch', ", ""))
    assert found(second) == found(second, cache=False)


def test_a_package_that_differs_is_another_one(projects: Callable[[str], Path]) -> None:
    first, second = projects("first"), projects("second")
    parts = second / ".venv/lib/python3.11/site-packages/model/parts.py"
    before = found(first)
    for old, new in (
        ("return scores.argmax(-1) + 1", "return scores.argmax(-1)"),
        ("class Base(nn.Module)", "class Base"),
    ):
        text = parts.read_text()
        assert old in text
        parts.write_text(text.replace(old, new))
        assert found(second) == found(second, cache=False) != before
        assert found(first) == before  # both are kept
        parts.write_text(text)
    assert found(second) == before


def test_what_else_is_installed_counts(projects: Callable[[str], Path]) -> None:
    """A package that imports another one, which only some environments have."""
    first, second = projects("first"), projects("second")
    for root in (first, second):
        packages = root / ".venv/lib/python3.11/site-packages"
        (packages / "model/more.py").write_text("from extra import Drawn\n\n\nclass More(Drawn):\n    pass\n")
        (root / "mine.py").write_text(
            "from torch import nn\nfrom model.more import More\n\n\nclass Mine(More):\n    def __init__(self):\n"
            "        super().__init__()\n        self.heads = [nn.Linear(2, 2)]\n\n"
            "    def forward(self, x):\n        return self.heads[0](x)\n"
        )
    extra = second / ".venv/lib/python3.11/site-packages/extra.py"
    assert found(first) == found(first, cache=False)
    for text in ("from torch import nn\n\n\nclass Drawn(nn.Module):\n    pass\n", "class Drawn:\n    pass\n"):
        extra.write_text(text)
        for root in (second, first):
            assert found(root) == found(root, cache=False)


def test_a_module_of_the_project_is_none_of_a_package(projects: Callable[[str], Path]) -> None:
    """An installed file sees no file of the project, wherever the environment lies."""
    first, second = projects("first"), projects("second")
    for root in (first, second):
        packages = root / ".venv/lib/python3.11/site-packages"
        text = (packages / "model/top.py").read_text()
        (packages / "model/top.py").write_text("from settings import WIDTH\n" + text)
    (second / "settings.py").write_text("WIDTH = 64\n")
    (second / "model").mkdir()
    (second / "model/notes.txt").write_text("no package\n")
    for root in (first, second, first):
        assert found(root) == found(root, cache=False)


@pytest.mark.dear
def test_random_edits_of_packages_and_scripts(projects: Callable[[str], Path]) -> None:
    roots = [projects("first"), projects("second")]
    chance = random.Random(11)
    for _ in range(drawn(10)):
        root = chance.choice(roots)
        path = chance.choice(sorted(root.rglob("*.py")))
        lines = path.read_text().splitlines(keepends=True)
        number = chance.randrange(len(lines)) if lines else 0
        if chance.random() < 0.5 and lines:
            lines[number] = lines[number].replace("self.", "self.x_", 1).replace("16", "17")
        else:
            lines.append("\n\ndef more(x):\n    return x.argmax(-1)\n")
        path.write_text("".join(lines))
        for one in roots:
            assert found(one) == found(one, cache=False)


@pytest.mark.parametrize(
    "data", [b"", b"SQLite format 3\0", b"no database at all" * 100, None], ids=["empty", "head", "text", "cut"]
)
def test_an_index_that_is_cut_or_forged_is_none(projects: Callable[[str], Path], data: bytes | None) -> None:
    root = projects("first")
    expected = found(root)
    file = root.parent / "index" / FILE_NAME
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2] if data is None else data)
    assert found(root) == expected
    assert found(root) == expected
    with closing(sqlite3.connect(file)) as database:  # it has been written anew
        assert database.execute("SELECT count(*) FROM kept").fetchone()[0] > 3


def test_an_index_of_another_form_is_none(projects: Callable[[str], Path]) -> None:
    root = projects("first")
    expected = found(root)
    file = root.parent / "index" / FILE_NAME
    for statements in (
        "DROP TABLE kept; CREATE TABLE kept (other TEXT)",
        "DROP TABLE kept; CREATE VIEW kept AS SELECT 1 AS name, 2 AS written, 'x' AS data",
        "UPDATE kept SET data = 7",
        "UPDATE kept SET data = 'text'",
        "UPDATE kept SET data = NULL",
        "UPDATE kept SET data = (SELECT data FROM kept LIMIT 1)",
    ):
        with closing(sqlite3.connect(file)) as database:
            database.executescript(statements)
        assert found(root) == expected
        file.unlink()
        assert found(root) == expected


def test_an_index_that_cannot_be_written_is_no_error(projects: Callable[[str], Path]) -> None:
    root = projects("first")
    expected = found(root, cache=False)
    (root.parent / "file").write_text("")
    assert found(root, index="file/index") == expected
    (root.parent / "folder" / FILE_NAME).mkdir(parents=True)
    assert found(root, index="folder") == expected


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of the size of files")
def test_a_full_disk_is_no_error(projects: Callable[[str], Path]) -> None:
    root = projects("first")
    code = (
        "import resource, signal, sys\n"
        "from modellint.__main__ import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))\n"
        "sys.argv[1:] = ['check', '--output-format', 'json', '--index-dir', 'index']\n"
        "main()\n"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "")
        assert {one["code"] for one in json.loads(done.stdout)["findings"]} == {"ML204", "ML103"}
    assert found(root, index="index") == found(root, cache=False)


#: Writes rows into an index, a few at a time.
WRITER = """\
import sys
from pathlib import Path
from modellint.reading.index import Index

first = int(sys.argv[1])
index = Index(Path("."), "key", keeps_versions=True)
for number in range(first, first + 300):
    index.put("answers", f"file{number}", [number], "content")
    if number % 7 == 0:
        index.flush()
index.flush()
"""


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, first], cwd=tmp_path) for first in ("0", "200")]
    assert [writer.wait() for writer in writers] == [0, 0]
    index = Index(tmp_path, "key", keeps_versions=True)
    assert [index.get("answers", f"file{number}", "content") for number in range(500)] == [[n] for n in range(500)]
    assert index.get("outline", "file1", "content") is None
    assert index.get("answers", "file1", "other content") is None
    assert Index(tmp_path, "another key", keeps_versions=True).get("answers", "file1", "content") is None


def test_the_latest_content_replaces_the_one_before(tmp_path: Path) -> None:
    for keeps_versions, expected in ((False, None), (True, "one")):
        index = Index(tmp_path / str(keeps_versions), "key", keeps_versions=keeps_versions)
        for content in ("one", "two"):
            index.put("outline", "file", content, content, "name")
        index.flush()
        assert [index.get("outline", "file", content, "name") for content in ("one", "two")] == [expected, "two"]


def test_names_of_files_are_portable() -> None:
    here = Anchors((("<packages 0>", "/lab/.venv/lib/site-packages"), ("<root>", "/lab")))
    there = Anchors((("<packages 0>", "/env/lib"), ("<root>", "/home/me/work")))
    for path, name, other in (
        ("/lab/.venv/lib/site-packages/torch/nn.py", "<packages 0>/torch/nn.py", "/env/lib/torch/nn.py"),
        ("/lab/model.py", "<root>/model.py", "/home/me/work/model.py"),
        ("/lab", "<root>", "/home/me/work"),
        ("/labour/model.py", "/labour/model.py", "/labour/model.py"),
    ):
        assert here.key(f"is-file:{path}") == f"is-file:{name}"
        assert here.dependency(f"is-file:{name}") == f"is-file:{path}"
        assert there.dependency(f"is-file:{name}") == f"is-file:{other}"
    for name in ("/home/me/work/model.py", "<packages 1>/torch", "<other>/x"):
        with pytest.raises(ValueError, match="has another name here"):
            there.path(name)
    assert Anchors().path("/lab/model.py") == Anchors().name("/lab/model.py") == "/lab/model.py"


def test_the_command_fills_the_index(workspace: Workspace, projects: Callable[[str], Path], parsed: list[str]) -> None:
    root = projects("first")
    options = ("--config", str(root / "pyproject.toml"), "--index-dir", str(root.parent / "index"), "--jobs", "1")
    result = workspace.run("index", "model", *options)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("model: 3 files in ")
    kept = Index(root.parent / "index")
    assert kept.is_on_disk
    with closing(sqlite3.connect(root.parent / "index" / FILE_NAME)) as database:
        rows = [json.loads(next(documents_in(data)))[0] for (data,) in database.execute("SELECT data FROM kept")]
    assert {head[2] for head in rows} == {f"<packages 0>/{name}" for name in PROJECT}
    assert {head[1] for head in rows} == {"outline", "answers"}
    expected = found(root, cache=False)
    parsed.clear()
    assert found(root) == expected
    assert set(parsed) == {"mine.py", "other.py"}
    assert workspace.run("index", "--clear", *options).code == 0
    with closing(sqlite3.connect(root.parent / "index" / FILE_NAME)) as database:
        assert database.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_the_command_says_what_it_needs(workspace: Workspace, projects: Callable[[str], Path]) -> None:
    root = projects("first")
    options = ("--config", str(root / "pyproject.toml"), "--index-dir", str(root.parent / "index"))
    for arguments, message in (
        ((), "no package is named; expected a name, as in `modellint index transformers`"),
        (("modell",), "has no package `modell`; did you mean `model`?"),
        (("../model",), "has no package `../model`"),
    ):
        result = workspace.run("index", *arguments, *options)
        assert (result.code, result.out) == (2, "")
        assert message in result.err
    shutil.rmtree(root / ".venv")
    result = workspace.run("index", "model", *options)
    assert result.err == (
        "Error: the project has no environment with packages; expected `--python` with an interpreter\n"
    )
    (root.parent / "file").write_text("")
    result = workspace.run("index", "--clear", *options[:2], "--index-dir", str(root.parent / "file/index"))
    assert result.code == 2
    assert "file/index: cannot be changed: " in result.err
