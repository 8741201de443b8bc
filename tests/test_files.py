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
