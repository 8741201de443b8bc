"""The files of the tree that the tests are in: a work tree of git, or an unpacked source distribution."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from pathspec import GitIgnoreSpec

ROOT = Path(__file__).parent.parent
#: What setuptools adds to a source distribution.
_ADDED = ("PKG-INFO", "setup.cfg")


def is_of_git() -> bool:
    return (ROOT / ".git").exists()


def names() -> list[str]:
    """Those that git tracks, and those that it would; where there is no git, those that `.gitignore` leaves."""
    if is_of_git():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
        return sorted(name for name in map(os.fsdecode, listed) if name and (ROOT / name).is_file())
    ignored = GitIgnoreSpec.from_lines((ROOT / ".gitignore").read_text("utf-8").splitlines())
    return sorted(name for name in map(_posix, ignored.match_tree_files(ROOT, negate=True)) if name not in _ADDED)


def copy(folder: Path) -> None:
    """Copy these files into a folder."""
    for name in names():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)


def _posix(name: str) -> str:
    return name.replace(os.sep, "/")
