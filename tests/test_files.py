"""What files there are does not depend on what has been asked before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.files import Files

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
