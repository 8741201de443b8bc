"""`check --watch`, as a process of its own."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from effort import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Workspace


@pytest.fixture
def watching(words: Workspace) -> Iterator[tuple[subprocess.Popen[str], queue.Queue[str]]]:
    """A watcher of the project, and the lines that it writes."""
    words.write({"a.py": "a = WORD\n"})
    command = [sys.executable, "-m", "modellint", "check", "--watch", "--output-format", "concise", "--no-cache"]
    process = subprocess.Popen(
        command, cwd=words.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    )
    lines: queue.Queue[str] = queue.Queue()
    assert process.stdout is not None
    threading.Thread(target=lambda: [lines.put(line) for line in process.stdout], daemon=True).start()
    yield process, lines
    process.kill()
    process.wait()


def until(lines: queue.Queue[str], last: str) -> list[str]:
    """The lines up to one that starts with `last`."""
    found = []
    while True:
        found.append(lines.get(timeout=PATIENCE).rstrip("\n"))
        if found[-1].startswith(last):
            return found


def test_watch_checks_again_when_a_file_changes(
    words: Workspace, watching: tuple[subprocess.Popen[str], queue.Queue[str]]
) -> None:
    process, lines = watching
    first = until(lines, "Watching")
    assert first[0] == "a.py:1:5: TST101[warning] Found the word"
    words.write({"note.txt": "not looked at", "a.py": "x = 1\n"})
    while "All checks passed!" not in until(lines, "Watching"):
        pass
    words.write({"modellint.toml": "slect = []\n"})
    assert any(line.startswith("Error: modellint.toml:1: unknown key `slect`") for line in until(lines, "Watching"))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) in (0, 1, 2)


def test_watch_needs_its_package(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = words.run("check", "--watch")
    assert result.code == 2
    assert "pip install 'modellint[watch]'" in result.err
