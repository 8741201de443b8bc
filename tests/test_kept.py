"""What earlier runs found out about files makes a run faster, and never another one."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from effort import drawn

import modellint
from modellint.config import settings_for
from modellint.frontends import python
from modellint.reading.index import FILE_NAME
from modellint.reading.sealed import documents_in, sealed
from modellint.server.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Workspace

    from modellint.finding import Finding

#: A model whose parts stand in other files: rotary tables, a layer in a list, a table that is looked up with ids.
PROJECT = {
    "model/__init__.py": "from .top import Top\n",
    "model/parts.py": """\
import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, width: int, length: int = 512):
        super().__init__()
        angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, x, offset: int = 0):
        return self.cos[offset : offset + x.shape[1]], self.sin[offset : offset + x.shape[1]]


def layers(width: int, count: int = 2):
    return [nn.Linear(width, width) for _ in range(count)]


class Base(nn.Module):
    def keep(self, width: int):
        self.blocks = layers(width)

    def pick(self, scores):
        return scores.argmax(-1) + 1
""",
    "model/top.py": """\
from torch import nn

from .parts import Base, Rotary


class Top(Base):
    def __init__(self, width: int = 64):
        super().__init__()
        self.rotary = Rotary(width)
        self.keep(width)
        self.table = nn.Embedding(16, width)
        self.scores = nn.Linear(width, 16)

    def forward(self, x):
        cos, sin = self.rotary(x)
        for block in self.blocks:
            x = block(x) * cos + sin
        return self.table(self.pick(self.scores(x)))
""",
}
#: A model that uses some of its parts.
OTHER = """\
from torch import nn

from .parts import Base


class Other(Base):
    def __init__(self, width: int = 64):
        super().__init__()
        self.keep(width)
        self.table = nn.Embedding(16, width)
        self.scores = nn.Linear(width, 16)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.table(self.pick(self.scores(x)))
"""


def found(folder: Path, *, cache: bool) -> list[Finding]:
    return modellint.check([folder], isolated=True, cache=cache, cache_dir=str(folder.parent / "kept"))


def forget_results(folder: Path) -> None:
    """Let go of results, so that each file is checked with what was found out about others."""
    for file in (folder.parent / "kept").glob("*.results"):
        file.unlink()


def rows_in(folder: Path) -> dict[str, bytes]:
    """The rows of the index in a folder."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        return dict(database.execute("SELECT name, data FROM kept ORDER BY name"))


def kept_in(folder: Path, kind: str) -> dict[str, bytes]:
    """What is kept of a kind about the files of a project."""
    rows = rows_in(folder.parent / "kept")
    return {row: data for row, data in rows.items() if json.loads(next(documents_in(data)))[0][1] == kind}


def write(folder: Path, rows: dict[str, bytes]) -> None:
    """Replace rows of what is kept about a project."""
    with closing(sqlite3.connect(folder.parent / "kept" / FILE_NAME)) as database, database:
        database.executemany("UPDATE kept SET data = ? WHERE name = ?", [(data, row) for row, data in rows.items()])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checked project, with what was found out about it."""
    folder = tmp_path / "project"
    for name, text in PROJECT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert {finding.code for finding in found(folder, cache=True)} == {"ML103", "ML204", "ML303"}
    forget_results(folder)
    return folder


def test_imported_files_are_not_parsed_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(kept_in(project, "outline")) == 3
    assert kept_in(project, "answers")
    expected = found(project, cache=False)
    parsed: list[Path] = []
    outlined = python.outlined
    monkeypatch.setattr(python, "outlined", lambda source, *rest: parsed.append(source.path) or outlined(source, *rest))
    assert found(project, cache=True) == expected
    assert parsed == []
    (project / "model/top.py").write_text(PROJECT["model/top.py"] + "\n")
    assert found(project, cache=True) == found(project, cache=False) == expected
    assert {path.name for path in parsed[: len(parsed) - 3]} == {"top.py"}


@pytest.mark.dear
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return [nn.Linear(width, width) for _ in range(count)]", "return nn.ModuleList([nn.Linear(width, width)])"),
        ("return scores.argmax(-1) + 1", "return scores.argmax(-1)"),
        ("length: int = 512", "length: int = 0"),
        ("(nn.Module):\n    def keep", ":\n    def keep"),
        ('self.register_buffer("cos", angles.cos())', "self.cos = angles.cos()"),
    ],
)
def test_a_change_in_an_imported_file_counts(project: Path, old: str, new: str) -> None:
    parts = project / "model/parts.py"
    before = found(project, cache=True)
    for a, b in ((old, new), (new, old)):
        assert a in parts.read_text()
        parts.write_text(parts.read_text().replace(a, b, 1))
        now = found(project, cache=True)
        assert now == found(project, cache=False)
        assert (now == before) is (b == old)


@pytest.mark.dear
def test_random_edits_give_what_a_run_without_cache_gives(project: Path) -> None:
    examples = Path(__file__).parent.parent / "examples"
    for source in sorted(examples.glob("*/broken")):
        shutil.copytree(source, project / source.parent.name)
    chance = random.Random(3)
    files = sorted(project.rglob("*.py"))
    for _ in range(drawn(12)):
        path = chance.choice(files)
        lines = path.read_text().splitlines(keepends=True)
        number = chance.randrange(len(lines)) if lines else 0
        match chance.randrange(3):
            case 0:
                lines.insert(number, "# a comment\n")
            case 1 if lines and lines[number].strip() and not lines[number].rstrip().endswith((":", "(", "[", ",")):
                lines[number] = lines[number].replace("1", "2").replace("self.", "self.x_", 1)
            case _:
                lines.append("\n\ndef more(x):\n    return x.argmax(-1)\n")
        path.write_text("".join(lines))
        if chance.random() < 0.5:
            forget_results(project)
        assert found(project, cache=True) == found(project, cache=False)


def damaged(data: bytes) -> Iterator[bytes]:
    """What may become of a file."""
    yield b""
    yield data[: len(data) // 2]
    yield data[:-1]
    yield data + b" "
    yield bytes((*data[:50], data[50] ^ 1, *data[51:]))
    yield sealed()
    yield data.partition(b"\n")[0] + b"\n" + next(documents_in(data))
    head, known = json.loads(next(documents_in(data)))
    nested: list[Any] = [[]]
    for _ in range(4000):
        nested = [nested]
    for other in (
        [["of another version", *head[1:]], known],
        [[*head[:-1], "of another content"], known],
        [head],
        [head, None],
        [head, {}],
        [head, [[], [], {}]],
        [head, [[["file:a", "b"]], [[5]], {}]],
        {},
        nested,
    ):
        text = json.dumps(other) if other is not nested else f"{'[' * 99_999}{']' * 99_999}"
        yield sealed(text.encode())
    yield sealed(*documents_in(data), b"{}")
    yield sealed(json.dumps([head, known]).encode()[:-1])


@pytest.mark.dear
@pytest.mark.parametrize("kind", ["outline", "answers"])
def test_what_is_cut_or_of_another_version_is_none(project: Path, kind: str) -> None:
    expected = found(project, cache=False)
    whole = kept_in(project, kind)
    for number in range(len(list(damaged(next(iter(whole.values())))))):
        write(project, {row: list(damaged(data))[number] for row, data in whole.items()})
        assert found(project, cache=True) == expected
        forget_results(project)


@pytest.mark.dear
@pytest.mark.parametrize("kind", ["outline", "answers"])
def test_values_of_other_types_are_none(project: Path, kind: str) -> None:
    """Also where the checksum fits: whoever can write one is no more than someone who forgot what was known."""
    expected = found(project, cache=False)
    chance = random.Random(7)
    whole = kept_in(project, kind)
    for _ in range(drawn(60)):
        forged: dict[str, bytes] = {}
        for row, data in whole.items():
            document = json.loads(next(documents_in(data)))
            forge(document, chance)
            forged[row] = sealed(json.dumps(document).encode())
        write(project, forged)
        assert found(project, cache=True) == expected
        forget_results(project)


def forge(document: Any, chance: random.Random) -> None:
    """Make one value of another type, somewhere in what is known."""
    places: list[tuple[Any, Any]] = []
    pending = [document[1]]
    while pending:
        part = pending.pop()
        for key in part if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            pending += [part[key]] if isinstance(part[key], dict | list) else []
    if places:
        part, key = chance.choice(places)
        part[key] = chance.choice([one for one in (7, "x", None, [], {}, True) if type(one) is not type(part[key])])


def test_no_cache_keeps_nothing(workspace: Workspace) -> None:
    workspace.write(PROJECT)
    workspace.run("check", "--no-cache")
    assert not (workspace.root / ".modellint_cache").exists()
    workspace.run("check")
    assert len(rows_in(workspace.root / ".modellint_cache")) > 3
    workspace.run("clean")
    assert not (workspace.root / ".modellint_cache").exists()


@pytest.mark.dear
def test_processes_share_what_they_have_found_out(workspace: Workspace) -> None:
    files = {f"model/copy_{number}.py": OTHER for number in range(6)}
    workspace.write({**PROJECT, **files})
    for jobs in ("3", "3", "1"):
        options = ("--jobs", jobs, "--output-format", "json")
        expected = workspace.run("check", "--no-cache", *options).json["findings"]
        assert workspace.run("check", *options).json["findings"] == expected
        for file in (workspace.root / ".modellint_cache").glob("*.results"):
            file.unlink()
    kept = [json.loads(next(documents_in(data)))[0] for data in rows_in(workspace.root / ".modellint_cache").values()]
    assert len([head for head in kept if head[1] == "outline"]) == len(PROJECT) + len(files)


def test_an_editor_uses_what_runs_have_found_out(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write(PROJECT)
    workspace.run("check")
    path = workspace.root / "model/top.py"
    parsed: list[Path] = []
    outlined = python.outlined
    monkeypatch.setattr(python, "outlined", lambda source, *rest: parsed.append(source.path) or outlined(source, *rest))
    session = Session(settings_for([path], isolated=True))
    kept = rows_in(workspace.root / ".modellint_cache")
    for text in (PROJECT["model/top.py"], PROJECT["model/top.py"].replace("16, width", "17, width")):
        session.open(path, text.encode())
        while session.is_outdated:
            session.check()
        session.tidy()
        path.write_text(text)
        assert session.findings() == modellint.check([path], isolated=True, cache=False)
    assert {file.name for file in parsed[:1]} == {"top.py"}
    assert kept == rows_in(workspace.root / ".modellint_cache")
