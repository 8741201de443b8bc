"""The cache: fast when nothing changed, and never wrong."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from modellint import analyser

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were analysed, not remembered."""
    names: list[str] = []
    analyse = analyser.Analyser.analyse

    def spy(self: analyser.Analyser, path: Path, *rules: Any) -> analyser.FileResult:
        names.append(path.name)
        return analyse(self, path, *rules)

    monkeypatch.setattr(analyser.Analyser, "analyse", spy)
    return names


def cache_file(words: Workspace) -> Path:
    (file,) = (words.root / ".modellint_cache").glob("*.json")
    return file


def test_a_second_run_says_the_same_without_analysing(words: Workspace, analysed: list[str]) -> None:
    words.write(
        {
            "a.py": "a = WORD\nb = 1  # modellint: ignore[ML001]\n",
            "b.py": "x = 1\n",
            "c.py": "(\n",
            "d.yaml": "d: !new:e.F  # WORD\n",
            "ä.py": "# link: d.yaml\nä = WORD  # LOW\n",
        }
    )
    first = words.run("check")
    assert sorted(analysed) == ["a.py", "b.py", "c.py", "d.yaml", "ä.py"]
    analysed.clear()
    assert words.run("check") == first
    assert analysed == []


def test_what_changed_is_analysed_again(words: Workspace, analysed: list[str]) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n"})
    words.check()
    analysed.clear()
    words.write({"b.py": "b = 1\n"})
    assert words.places() == [("a.py", 1, "TST101")]
    assert analysed == ["b.py"]


def test_a_change_in_a_linked_file_counts(words: Workspace, analysed: list[str]) -> None:
    words.write({"a.py": "# link: b.yaml\n", "b.yaml": "a: 1\n", "c.py": "x = 1\n"})
    assert words.places("a.py", "c.py") == []
    for text, expected in (("a: WORD\n", [("b.yaml", 1, "TST101")]), ("a: 1\n", [])):
        analysed.clear()
        words.write({"b.yaml": text})
        assert words.places("a.py", "c.py") == expected
        assert analysed == ["a.py"]


def test_a_linked_file_that_appears_or_goes_counts(words: Workspace) -> None:
    words.write({"a.py": "# link: b.yaml\n"})
    assert words.places("a.py") == []
    words.write({"b.yaml": "a: WORD\n"})
    assert words.places("a.py") == [("b.yaml", 1, "TST101")]
    (words.root / "b.yaml").unlink()
    assert words.places("a.py") == []


def test_settings_and_rules_have_caches_of_their_own(words: Workspace, analysed: list[str]) -> None:
    words.write({"a.py": "a = WORD\n"})
    assert words.places("--ignore", "TST101") == []
    assert words.places() == [("a.py", 1, "TST101")]
    rule = words.root / "rules/word.py"
    rule.write_text(rule.read_text().replace('"Found the word"', '"Found it"'))
    assert "Found it" in words.check().out
    analysed.clear()
    assert words.places("--fail-on", "info", "--min-confidence", "low") == [("a.py", 1, "TST101")]
    assert analysed == []


def test_no_cache_leaves_no_trace(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    words.check("--no-cache")
    assert not (words.root / ".modellint_cache").exists()


def test_the_folder_of_the_cache_marks_itself(words: Workspace, tmp_path: Path) -> None:
    words.write({"a.py": ""})
    words.check("--cache-dir", str(tmp_path / "elsewhere/deep"))
    folder = tmp_path / "elsewhere/deep"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert (folder / ".gitignore").read_text() == "*\n"
    assert len(list(folder.glob("*.json"))) == 1
    assert not (words.root / ".modellint_cache").exists()


def test_a_folder_that_cannot_be_written_is_no_error(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "file": ""})
    result = words.check("--cache-dir", "file/cache")
    assert (result.code, result.err) == (1, "")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b'"TST101"', b"7"),
        lambda data: data.replace(b"warning", b"warnung"),
        lambda data: data.replace(b'"pairs":[', b'"pairs":[[],'),
        lambda data: b"\x80\x04\x95",
        lambda data: b"[" * 100_000,
        lambda data: json.dumps({**json.loads(data), "entries": {"x": 1, "y": []}}).encode(),
        lambda data: json.dumps({**json.loads(data), "pairs": []}).encode(),
        lambda data: json.dumps({**json.loads(data), "entries": []}).encode(),
        lambda data: json.dumps({**json.loads(data), "key": "foreign"}).encode(),
        lambda data: json.dumps([1, 2, 3]).encode(),
    ],
)
def test_a_broken_cache_is_no_cache(words: Workspace, damage: object) -> None:
    assert callable(damage)
    words.write({"a.py": "a = WORD\nx = 1  # modellint: ignore[ML001]\n"})
    first = words.check()
    file = cache_file(words)
    file.write_bytes(damage(file.read_bytes()))
    assert words.check() == first
    assert words.check() == first


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"Word"', b'"Place"'),
        (b'"Word"', b'["Word"]'),
        (b'"modellint_rule_path', b'"no_rule_path'),
        (b'{"place":[', b'{"place":["x",'),
        (b'{"place":[', b'{"site":['),
        (b',"WORD"]]]', b",7]]]"),
        (b',"WORD"]]]', b"]]]"),
    ],
)
def test_a_broken_claim_is_no_cache(words: Workspace, analysed: list[str], old: bytes, new: bytes) -> None:
    words.write({"a.py": "a = WORD\n"})
    first = words.check()
    file = cache_file(words)
    assert old in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(old, new))
    analysed.clear()
    assert words.check() == first
    assert analysed == ["a.py"]
    assert words.check() == first
    assert analysed == ["a.py"]


def test_other_files_stay_remembered(words: Workspace, analysed: list[str]) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n", "c.py": "c = WORD\n"})
    words.check()
    words.write({"b.py": "b = 1\n"})
    words.check("b.py")
    (words.root / "c.py").unlink()
    analysed.clear()
    assert words.places() == [("a.py", 1, "TST101")]
    assert analysed == []


def test_files_that_are_gone_are_forgotten(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "b.py": "b = WORD\n"})
    words.check()
    (words.root / "b.py").unlink()
    words.write({"a.py": "a = 1\n"})
    words.check()
    assert b"b.py" not in cache_file(words).read_bytes()


def test_old_caches_are_dropped(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    folder = words.root / ".modellint_cache"
    words.check()
    for number in range(12):
        old = folder / f"{number:024x}.json"
        old.write_text("{}")
        os.utime(old, (number, number))
    words.write({"a.py": "a = 1\n"})
    words.check()
    assert len(list(folder.glob("*.json"))) == 8
    assert words.places() == []


def test_a_write_that_fails_leaves_the_old_cache(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    words.write({"a.py": "a = WORD\n"})
    words.check()
    before = cache_file(words).read_bytes()

    def fail(source: object, target: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        words.write({"a.py": "a = 1\n"})
        assert words.check().code == 0
    assert cache_file(words).read_bytes() == before
    assert not list((words.root / ".modellint_cache").glob("*.tmp"))


def test_processes_fill_the_cache_as_one_would(words: Workspace, analysed: list[str]) -> None:
    words.write({f"m{i}.py": f"x{i} = WORD\n" for i in range(20)})
    first = words.check("--jobs", "3")
    analysed.clear()
    assert words.check("--jobs", "1") == first
    assert analysed == []
