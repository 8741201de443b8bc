"""The cache: fast when nothing changed, and never wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modellint.claims.positions import StepBeyond
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.pipeline import analyser
from modellint.pipeline.analyser import FileResult
from modellint.pipeline.cache import Cache
from modellint.reading.sealed import documents_in, sealed
from modellint.results.suppressions import Suppression
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Workspace


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were analysed, not remembered."""
    names: list[str] = []
    analyse = analyser.Analyser.analyse

    def spy(self: analyser.Analyser, path: Path) -> analyser.FileResult:
        names.append(path.name)
        return analyse(self, path)

    monkeypatch.setattr(analyser.Analyser, "analyse", spy)
    return names


def cache_file(words: Workspace) -> Path:
    (file,) = (words.root / ".modellint_cache").glob("*.results")
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


def test_who_searches_a_project_finds_nothing_in_its_cache(words: Workspace) -> None:
    words.write({f"name_{number}.py": f"a = WORD  # {number}\n" for number in range(40)})
    words.write({"model.py": "def measured_width():\n    return 1\n", "main.py": "from model import measured_width\n"})
    words.check()
    kept = [file for file in (words.root / ".modellint_cache").rglob("*") if file.suffix not in ("", ".TAG")]
    assert {file.suffix for file in kept} == {".results", ".sqlite"}
    for file in kept:
        data = file.read_bytes()
        assert not any(text in data for text in (b"Found the word", b"name_1", b"measured_width"))
        assert b"\0" in data or "\ufffd" in data.decode(errors="replace")  # grep takes it for no text


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
    assert len(list(folder.glob("*.results"))) == 1
    assert not (words.root / ".modellint_cache").exists()


def test_a_folder_that_cannot_be_written_is_no_error(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n", "file": ""})
    result = words.check("--cache-dir", "file/cache")
    assert (result.code, result.err) == (1, "")


def changed(file: Path, change: Callable[[bytes], bytes]) -> None:
    """Change what a cache file holds, with a checksum that is right."""
    documents = list(documents_in(file.read_bytes()))
    assert sealed(*documents) == file.read_bytes()
    file.write_bytes(sealed(*change(b"\n".join(documents)).split(b"\n")))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data.partition(b"\n")[2],
        lambda data: data.replace(b"Found the word", b"Found the ward"),
        lambda data: b"[" * 100_000,
    ],
)
def test_a_cache_that_does_not_fit_its_checksum_is_no_cache(words: Workspace, damage: Callable[[bytes], bytes]) -> None:
    words.write({"a.py": "a = WORD\nx = 1  # modellint: ignore[ML001]\n"})
    first = words.check()
    file = cache_file(words)
    file.write_bytes(damage(file.read_bytes()))
    assert words.check() == first
    assert words.check() == first


def with_other(data: bytes, number: int, **values: Any) -> bytes:
    """Documents of which one has other values."""
    documents = [json.loads(line) for line in data.split(b"\n")]
    documents[number].update(values)
    return b"\n".join(map(as_bytes, documents))


def as_bytes(document: Any) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.replace(b'"TST101"', b"7"),
        lambda data: data.replace(b"warning", b"warnung"),
        lambda data: data.replace(b'"pairs":[', b'"pairs":[[],'),
        lambda data: data.replace(b"null,[", b"[],[", 1),
        lambda data: b"\x80\x04\x95",
        lambda data: b"[" * 100_000,
        lambda data: with_other(data, 0, entries={"x": 1, "y": []}),
        lambda data: with_other(data, 1, pairs=[]),
        lambda data: with_other(data, 0, entries=[]),
        lambda data: with_other(data, 0, key="foreign"),
        lambda data: with_other(data, 0, state=None),
        lambda data: with_other(data, 0, state={"limit": None}),
        lambda data: with_other(data, 0, stale=7),
        lambda data: with_other(data, 1, rests={}),
        lambda data: data.partition(b"\n")[0],
        lambda data: data + b"\n{}",
        lambda data: json.dumps([1, 2, 3]).encode(),
    ],
)
def test_a_broken_cache_is_no_cache(words: Workspace, damage: Callable[[bytes], bytes]) -> None:
    words.write({"a.py": "a = WORD\nx = 1  # modellint: ignore[ML001]\n"})
    first = words.check()
    changed(cache_file(words), damage)
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
        (b',"WORD",{', b",7,{"),
        (b',"WORD",{', b",{"),
        (b'{"anchors":[[', b'{"anchors":[[7,'),
        (b'{"anchors":[[', b'{"anchor":[['),
        (b',"WORD"]]}', b",7]]}"),
    ],
)
def test_a_broken_claim_is_no_cache(words: Workspace, analysed: list[str], old: bytes, new: bytes) -> None:
    words.write({"a.py": "a = WORD\n"})
    first = words.check()
    file = cache_file(words)
    assert old in next(documents_in(file.read_bytes()))
    changed(file, lambda data: data.replace(old, new))
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
        old = folder / f"{number:024x}.results"
        old.write_text("{}")
        os.utime(old, (number, number))
    words.write({"a.py": "a = 1\n"})
    words.check()
    assert len(list(folder.glob("*.results"))) == 8
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


# -- anything else in a cache file ------------------------------------------------------------------------------------

PLACE = Place("/project/a.py", Span(3, 1, 4, 9))
RESULT = FileResult(
    "/project/a.py",
    (
        Finding(
            "TST101",
            "word",
            "Found",
            Severity.WARNING,
            Confidence.HIGH,
            PLACE,
            "a",
            ("first", "second"),
            (Related(PLACE, "seen"),),
            "help",
            Fix("Do it", Applicability.SAFE, (Edit(PLACE, "x"), Edit(PLACE, "y"))),
            StepBeyond(PLACE, PLACE, ("past", "cache")),
        ),
        Finding("TST102", "plain", "Found", Severity.INFO, Confidence.LOW, PLACE, "b"),
    ),
    (
        Suppression(Span(1, 2, 3, 4), ("TST101",), whole_file=True, within=(1, 9)),
        Suppression(Span(2, 2, 3, 4), (), is_noqa=True),
    ),
    dependencies=(("is-file:/nowhere/b.py", "False"), ("file:/nowhere/c.py", "absent")),
    unfinished=(("ML101", "look-ups of `sample`"),),
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache file that holds one result, with everything that results can have."""
    folder = tmp_path_factory.mktemp("cache")
    cache = Cache(folder, "key")
    cache.put(RESULT)
    cache.save()
    assert Cache(folder, "key").get(Path(RESULT.path)) == RESULT
    return folder / "key.results"


def remembered(stored: Path, data: bytes) -> FileResult | None:
    """What a file with other contents is taken for."""
    (stored.parent / "other.results").write_bytes(data)
    return Cache(stored.parent, "other").get(Path(RESULT.path))


@given(st.data())
def test_a_file_that_is_changed_or_cut_anywhere_holds_nothing(stored: Path, data: st.DataObject) -> None:
    old = sealed(*(text.replace(b'"key":"key"', b'"key":"other"') for text in documents_in(stored.read_bytes())))
    assert remembered(stored, old) == RESULT
    start = data.draw(st.integers(0, len(old)))
    end = data.draw(st.integers(start, min(start + 40, len(old))))
    new = old[:start] + data.draw(st.binary(max_size=8)) + old[end:]
    assert remembered(stored, new) == (RESULT if new == old else None)


def places_in(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to everything in a JSON value."""
    yield way
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places_in(item, (*way, key))


def known_in(stored: Path) -> list[Any]:
    """What a cache file holds, under another key."""
    documents = [json.loads(document) for document in documents_in(stored.read_bytes())]
    documents[0]["key"] = "other"
    return documents


OTHER = [None, True, False, -1, 7, 1.5, "", "text", [], ["text"], {}, {"place": []}, [[1, 1, 1, 1], "text"]]


@given(st.data())
def test_a_value_of_another_type_anywhere_is_no_result(stored: Path, data: st.DataObject) -> None:
    document = known_in(stored)
    way = data.draw(st.sampled_from(list(places_in(document))))
    value: Any = document
    for key in way:
        value = value[key]
    # A text in place of a text, or nothing in place of a list, may well be what was found: checksums tell of that.
    kinds = (type(value), NoneType) if isinstance(value, list) else (type(value),)
    other = data.draw(st.sampled_from([one for one in OTHER if type(one) not in kinds or one == -1]))
    if way:
        parent = document
        for key in way[:-1]:
            parent = parent[key]
        parent[way[-1]] = other
    else:
        document = [other]
    # Without a state each thing is looked at by itself.
    known = remembered(stored, sealed(*map(as_bytes, document)))
    assert known is None or (known == RESULT and way[:2] == (0, "state"))


@given(st.data())
def test_a_key_that_is_missing_is_no_result(stored: Path, data: st.DataObject) -> None:
    document = known_in(stored)
    keyed = [way for way in places_in(document) if way and isinstance(way[-1], str) and "state" not in way[:-1]]
    *way, last = data.draw(st.sampled_from(keyed))
    parent: Any = document
    for key in way:
        parent = parent[key]
    del parent[last]
    assert remembered(stored, sealed(*map(as_bytes, document))) is None
