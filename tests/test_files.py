"""What files there are does not depend on what has been asked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.pipeline.analyser import FileResult
from modellint.reading.files import Files

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_that_could_not_be_read_does_not_exist(tmp_path: Path) -> None:
    files = Files()
    assert files.read(tmp_path / "missing.py") is None
    assert not files.exists(tmp_path / "missing.py")


def test_a_file_that_was_read_exists(tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("")
    files = Files()
    assert files.read(tmp_path / "there.py") == b""
    assert files.exists(tmp_path / "there.py")


def test_an_overlaid_file_exists_though_it_is_not_on_disk(tmp_path: Path) -> None:
    files = Files({tmp_path / "open.py": b"x = 1\n"})
    assert files.exists(tmp_path / "open.py")
    assert not files.exists(tmp_path / "other.py")


def test_folders_of_overlaid_files_list_them(tmp_path: Path) -> None:
    (tmp_path / "on_disk.py").write_text("")
    files = Files({tmp_path / "a" / "b" / "open.py": b""})
    assert files.listdir(tmp_path) == ["a", "on_disk.py"]
    assert files.listdir(tmp_path / "a" / "b") == ["open.py"]
    assert files.is_dir(tmp_path / "a")
    assert not files.is_dir(tmp_path / "c")
    files.update(tmp_path / "a" / "b" / "open.py", None)
    assert files.listdir(tmp_path) == ["on_disk.py"]


def test_what_lies_beside_is_seen_by_those_who_ask_for_it(tmp_path: Path) -> None:
    files = Files({tmp_path / "open.py": b"x"})
    beside = files.beside({tmp_path / "written.py": b"y"})
    assert (beside.read(tmp_path / "open.py"), beside.read(tmp_path / "written.py")) == (b"x", b"y")
    assert files.read(tmp_path / "written.py") is None


def test_a_name_that_no_system_takes_is_no_file(tmp_path: Path) -> None:
    files = Files()
    assert not files.exists(tmp_path / ("a" * 5000))
    assert not files.is_dir(tmp_path / ("a" * 5000))
    assert not files.exists(tmp_path / "a\0b")


def test_what_computations_rest_on_is_in_memory_once(tmp_path: Path) -> None:
    files = Files()
    one, other = tmp_path / "a.py", tmp_path / "b.py"

    def look() -> None:
        files.exists(one)
        files.exists(other)

    _, first = files.traced(look)
    _, second = files.traced(look)
    _, less = files.traced(lambda: files.exists(one))
    assert first is second
    assert files.joined(less, first) is files.joined(first, ()) is first
    assert {*first} == {f"is-file:{path.as_posix()}" for path in (one, other)}
    assert [*less] == [f"is-file:{one.as_posix()}"]


def test_what_depends_on_a_computation_rests_on_all_that_it_does(tmp_path: Path) -> None:
    files = Files()
    _, inner = files.traced(lambda: files.exists(tmp_path / "a.py"))
    with files.trace() as trace:
        files.depend(inner)
        files.depend(inner)
    assert trace == {*inner}


def test_results_have_in_memory_once_what_they_rest_on() -> None:
    pairs = [("file:a.py", "".join(("1", "2"))) for _ in range(2)]
    known: dict[tuple[str, str], tuple[str, str]] = {}
    first, second = (FileResult("m.py", dependencies=(pair,)).sharing(known) for pair in pairs)
    assert first.dependencies[0] is second.dependencies[0]
    assert first == second
