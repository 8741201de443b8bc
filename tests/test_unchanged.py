"""Whether all that results rest on is as it was is told at once, and every change is seen."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from modellint.pipeline.cache import Cache
from modellint.reading import unchanged
from modellint.reading.files import Files
from modellint.reading.unchanged import Look

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

    Change = Callable[[Path], object]

LIMIT = 1_000


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with a package, a file that is too large, and links."""
    folder = tmp_path / "project"
    (folder / "package/inner").mkdir(parents=True)
    (folder / "package/__init__.py").write_text("import os\n")
    (folder / "package/inner/model.py").write_text("layer = 1\n")
    (folder / "large.py").write_text("x = 1\n" * LIMIT)
    (folder / "away").mkdir()
    os.symlink(folder / "package/inner", folder / "linked")
    os.symlink(folder / "nowhere.py", folder / "dangling.py")
    return folder


def keys_of(tree: Path) -> list[str]:
    looked_at = {
        "file": ("package/__init__.py", "package/inner/model.py", "large.py", "missing.py", "linked/model.py"),
        "is-file": ("package/__init__.py", "package.py", "none/at/all.py", "away", "dangling.py", "linked/model.py"),
        "is-dir": ("package", "other", "away", "large.py", "linked", "deep/below"),
        "dir": ("package", "not-there"),
        "is-searched": ("package",),
    }
    keys = [f"{kind}:{(tree / name).as_posix()}" for kind, names in looked_at.items() for name in names]
    return [*keys, f"mentions:{(tree / 'package').as_posix()}\0layer"]


def taken(tree: Path, keys: list[str] | None = None) -> object:
    """The state in which some keys have the fingerprints that they have for the analysis, through JSON."""
    files, look = Files(limit=LIMIT), Look(LIMIT)
    for key in keys_of(tree) if keys is None else keys:
        assert look.holds(key, files.fingerprint(key)), key
    return json.loads(json.dumps(look.state()))


def replaced(path: Path, text: str) -> None:
    """Write another text of the same length, and give the file the time that it had."""
    status = path.stat()
    assert len(text) == status.st_size
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


CHANGES: dict[str, Change] = {
    "a file says something else": lambda tree: (tree / "package/__init__.py").write_text("import sys, re\n"),
    "a file says as much, at the same time": lambda tree: replaced(tree / "package/inner/model.py", "layer = 2\n"),
    "a file is gone": lambda tree: (tree / "package/inner/model.py").unlink(),
    "a missing file is there": lambda tree: (tree / "missing.py").write_text(""),
    "a module is there that was looked for": lambda tree: (tree / "package.py").write_text(""),
    "a folder is there that was looked in": lambda tree: (tree / "none").mkdir(),
    "a folder is there that was looked for": lambda tree: (tree / "other").mkdir(),
    "a folder is gone": lambda tree: (tree / "away").rmdir(),
    "a folder is a file": lambda tree: ((tree / "away").rmdir(), (tree / "away").write_text("")),
    "a large file is gone": lambda tree: (tree / "large.py").unlink(),
    "a large file is small": lambda tree: (tree / "large.py").write_text("x = 1\n"),
    "a listed folder has one more": lambda tree: (tree / "package/other.yaml").write_text(""),
    "a searched folder has one more": lambda tree: (tree / "package/inner/other.py").write_text(""),
    "a link leads elsewhere": lambda tree: ((tree / "linked").unlink(), os.symlink(tree / "away", tree / "linked")),
    "a link leads somewhere": lambda tree: (tree / "nowhere.py").write_text(""),
}


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("is_settled", [True, False], ids=["settled", "just changed"])
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_seen(tree: Path, change: str, is_settled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the marks of files that were not changed for a while, and by the contents of others."""
    if is_settled:
        monkeypatch.setattr(unchanged, "_SETTLED", -sys.maxsize)
    state = taken(tree)
    assert Look(LIMIT).confirms(state)
    time.sleep(0.02)  # the clock of a file system may have ticks
    CHANGES[change](tree)
    assert not Look(LIMIT).confirms(state)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_what_nobody_looked_at_may_change(tree: Path) -> None:
    state = taken(tree)
    (tree / "unasked.py").write_text("")
    (tree / "away/inside.py").write_text("")
    os.utime(tree / "package/__init__.py")
    assert Look(LIMIT).confirms(state)
    assert not Look(LIMIT + 1).confirms(state)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_marks_stand_for_contents_only_of_files_that_had_time_to_settle(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recent = Look(LIMIT)
    recent.fingerprint(f"file:{(tree / 'large.py').as_posix()}")
    assert list(map(len, recent.marked.values())) == [1]
    monkeypatch.setattr(unchanged, "_SETTLED", -sys.maxsize)
    settled = Look(LIMIT)
    settled.fingerprint(f"file:{(tree / 'large.py').as_posix()}")
    assert list(map(len, settled.marked.values())) == [5]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everything can be read")
@pytest.mark.parametrize("name", ["package/__init__.py", "package"])
def test_what_cannot_be_read_is_looked_at_by_itself(tree: Path, name: str) -> None:
    (tree / name).chmod(0)
    try:
        assert taken(tree, keys_of(tree)[:1]) is None
    finally:
        (tree / name).chmod(0o700)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is looked at by itself."""
    keys: list[str] = []
    holds = Files.holds

    def spy(self: Files, key: str, fingerprint: str) -> bool:
        keys.append(key.partition(":")[0])
        return holds(self, key, fingerprint)

    monkeypatch.setattr(Files, "holds", spy)
    return keys


def test_nothing_is_looked_at_by_itself_where_nothing_has_changed(words: Workspace, looked_at: list[str]) -> None:
    words.write({"a.py": "# link: b.yaml\n", "b.yaml": "a: WORD\n"})
    first = words.check()
    looked_at.clear()
    assert words.check() == first
    assert looked_at == []


def test_a_file_that_looks_other_and_is_not_is_looked_at_once(
    words: Workspace, looked_at: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "_SETTLED", -sys.maxsize)
    words.write({"a.py": "# link: b.yaml\n", "b.yaml": "a: WORD\n"})
    first = words.check()
    os.utime(words.root / "b.yaml", (1, 1))
    looked_at.clear()
    assert words.check() == first
    assert "file" in looked_at
    looked_at.clear()
    assert words.check() == first
    assert looked_at == []


def test_a_file_that_changes_while_others_are_checked_is_checked_by_the_next_run(
    words: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n"})
    save = Cache.save

    def late(cache: Cache) -> None:
        words.write({"a.py": "a = 1\n"})
        save(cache)

    with monkeypatch.context() as patch:
        patch.setattr(Cache, "save", late)
        assert words.places() == [("a.py", 1, "TST101"), ("b.py", 1, "TST101")]
    assert words.places() == [("b.py", 1, "TST101")]
    assert words.places() == [("b.py", 1, "TST101")]
