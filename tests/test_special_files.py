"""Pipes, sockets and devices where files are expected, and names and settings that are no text: told or passed over."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from modellint.reading.sealed import documents_in

if TYPE_CHECKING:
    from conftest import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")

MODEL = "from helper import Base\n\n\nclass Model(Base):\n    WORD = 1\n"
RECIPE = "a: !include:part.yaml\nb: !new:helper.Base\nc: WORD\n"


def test_pipes_sockets_and_devices_are_passed_over(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    words.write({"model.py": MODEL, "train.yaml": RECIPE, "deep/x.py": "x = WORD\n"})
    for name in (
        "helper.py",
        "part.yaml",
        ".gitignore",
        "pyproject.toml",
        "deep/.gitignore",
        "config.json",
        "README.md",
    ):
        os.mkfifo(words.root / name)
    (words.root / "endless.py").symlink_to("/dev/zero")
    monkeypatch.chdir(words.root)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.py")
        found = words.places(".", "--no-cache", "--select", "TST101")
    assert found == [("deep/x.py", 1, "TST101"), ("model.py", 5, "TST101"), ("train.yaml", 3, "TST101")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "pipe.py"], "pipe.py: neither a file nor a folder"),
        (["check", "device.py"], "device.py: neither a file nor a folder"),
        (["check", "a.py", "--baseline", "pipe.py"], "--baseline: pipe.py: not a regular file"),
        (["check", "a.py", "--baseline", "device.py"], "--baseline: device.py: not a regular file"),
        (["check", "a.py", "--config", "pipe.py"], "pipe.py: no such configuration file"),
        (["merge", "pipe.py"], "pipe.py: not a regular file"),
        (["map", "pipe.py::A"], "pipe.py: cannot be read"),
    ],
)
def test_those_that_are_named_are_told(words: Workspace, arguments: list[str], says: str) -> None:
    words.write({"a.py": ""})
    os.mkfifo(words.root / "pipe.py")
    (words.root / "device.py").symlink_to("/dev/zero")
    result = words.run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {says}")


def test_a_pipe_in_the_place_of_the_cache(words: Workspace) -> None:
    words.write({"a.py": "a = WORD\n"})
    words.check("a.py")
    (cache,) = (words.root / ".modellint_cache").glob("*.results")
    cache.unlink()
    os.mkfifo(cache)
    assert words.check("a.py").code == 1
    assert all(map(json.loads, documents_in(cache.read_bytes())))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[tool.modellint]\n".encode("utf-16"), "byte 0xff at offset 0 is not valid UTF-8; expected text in UTF-8"),
        ("[tool.modellint]\n".encode("utf-16-le"), "not valid TOML: "),
        (b"\x7fELF\0\0\xfe\xca", "byte 0xfe at offset 6 is not valid UTF-8"),
        (b"PK\3\4\0\0", "not valid TOML: "),
        (
            "[project]\nauthors = [{ name = 'J\u00f6rg' }]\n".encode("latin-1"),
            "byte 0xf6 at offset 32 is not valid UTF-8",
        ),
    ],
    ids=["UTF-16", "UTF-16 without its mark", "a program", "an archive", "Latin-1"],
)
def test_a_pyproject_that_is_no_text_is_told(words: Workspace, content: bytes, says: str) -> None:
    (words.root / "modellint.toml").unlink(missing_ok=True)
    words.write({"a.py": "", "pyproject.toml": content})
    result = words.check("a.py")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Error: pyproject.toml: not valid TOML: ")
    assert says in result.err


@pytest.mark.dear
@pytest.mark.parametrize("encoding", ["ascii", "utf-8", "utf-16"])
@pytest.mark.parametrize(
    "output_format", ["json", "json-lines", "gitlab", "sarif", "rdjson", "junit", "github", "azure", "full"]
)
def test_reports_are_valid_whatever_files_are_called(workspace: Workspace, encoding: str, output_format: str) -> None:
    names = [b"\xff.py", b"a\xed\xa0\x80.py", b'q"\xfe.py', "é\N{GRINNING FACE}.py".encode()]
    for name in names:
        with open(os.path.join(os.fsencode(workspace.root), name), "wb") as file:
            file.write(b"(")
    done = subprocess.run(
        [sys.executable, "-m", "modellint", "check", "--no-cache", "--output-format", output_format],
        cwd=workspace.root,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    if output_format == "full":
        assert done.stdout.decode(encoding).count("ML001") == 4
        return
    text = done.stdout.decode("utf-8")
    if output_format == "json-lines":
        paths = {json.loads(line)["path"] for line in text.splitlines()}
        assert {os.fsencode(path) for path in paths} == set(names)
    elif output_format == "junit":
        assert len(list(ElementTree.fromstring(text.encode()).iter("testcase"))) == 4
    elif output_format == "github":
        assert text.count("::error ") == 4
    elif output_format == "azure":
        assert text.count("##vso[task.logissue type=error;") == 4
    else:
        assert json.loads(text)
