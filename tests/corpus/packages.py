"""Public packages as they were released: fetched with pip, unpacked, never installed or imported, and checked."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("MODELLINT_CORPUS")

needs_packages = pytest.mark.skipif(FOLDER is None, reason="set MODELLINT_CORPUS to a folder for the packages")

_PIP = "pip download --quiet --no-deps --only-binary :all: --ignore-requires-python --disable-pip-version-check --dest"


_NO_CONNECTION = ("NewConnectionError", "ConnectTimeout", "ReadTimeout", "ProxyError")


class UnreachableError(Exception):
    """pip reaches no package index."""


def unpacked(name: str, version: str, folder: Path) -> Path:
    """The files of a release's wheel, below `folder`, where they stay.

    Raises `UnreachableError` without a connection, and `LookupError` if there is no such wheel.
    """
    root = folder / f"{name}-{version}"
    if not root.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            _fetch(f"{name}=={version}", scratch)
            (wheel,) = Path(scratch).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(Path(scratch, "files"))
            with contextlib.suppress(OSError):  # another process was faster
                Path(scratch, "files").rename(root)
    return root


def fetched(name: str, version: str) -> Path:
    """A release's files; the test is skipped where there is no connection to fetch them."""
    try:
        return unpacked(name, version, Path(str(FOLDER)).resolve())
    except UnreachableError:
        pytest.skip("no package index can be reached")


def _fetch(release: str, folder: str) -> None:
    command = [sys.executable, "-m", *_PIP.split(), folder, release]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode:
        is_offline = any(sign in result.stderr for sign in _NO_CONNECTION)
        raise (UnreachableError if is_offline else LookupError)(result.stderr)


def checked(root: Path, *arguments: str) -> Any:
    """What `modellint check` says of files and folders of a release (all, by default), as it would without settings."""
    command = [sys.executable, "-m", "modellint", "check", "--isolated", "--no-cache", "--jobs", "1"]
    command += ["--output-format", "json", "--exit-zero", *arguments]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=3600)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def lines_of(root: Path) -> int:
    """How many lines of Python a release has."""
    return sum(path.read_bytes().count(b"\n") for path in root.rglob("*.py"))
