"""Nobody waits for a large document, and nothing is said of a document before it is checked.

MODELLINT_LARGE=all makes it one of ten megabytes.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from editor import Client
from effort import IS_LARGE, PATIENCE

from modellint.config import settings_for
from modellint.server.aside import Aside
from modellint.server.session import LARGE, Session

HEAD = "from torch import nn\n\n\n"
MODEL = (
    "class Text{}(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
    "        self.layers = [nn.Linear(size, size) for _ in range(2)]\n\n"
    "    def forward(self, hidden):\n        for layer in self.layers:\n            hidden = layer(hidden)\n"
    "        return hidden\n"
)
SMALL = HEAD + MODEL.format("")
LINE = "    0.125, 1.5, 2.25, 1000, 12, 17,\n"
#: What takes much longer than small documents, most of it the numbers of a table; and what is just large.
MEGABYTES, EDITS = (10, 20) if IS_LARGE else (3, 10)
HUGE = SMALL + "TABLE = [\n" + LINE * (MEGABYTES * 1_000_000 // len(LINE)) + "]\n"
TABLE = SMALL + "TABLE = [\n" + LINE * (LARGE // len(LINE) + 1) + "]\n"
HAS_PROC = Path("/proc/self").exists()


def opened(client: Client, path: Path, text: str, version: int = 1) -> str:
    item = {"uri": path.as_uri(), "languageId": "python", "version": version, "text": text}
    client.send("textDocument/didOpen", {"textDocument": item})
    return path.as_uri()


def changed(client: Client, uri: str, version: int, text: str) -> None:
    identity = {"uri": uri, "version": version}
    client.send("textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": text}]})


def codes(diagnostics: list[Any]) -> list[str]:
    return [one["code"] for one in diagnostics]


@pytest.fixture
def client(tmp_path: Path):
    (tmp_path / "modellint.toml").write_text('max-file-size = "20 MB"\n')
    client = Client(tmp_path)
    yield client
    client.process.kill()


@pytest.mark.dear
def test_a_large_document_is_checked_while_others_are_edited(client: Client, tmp_path: Path) -> None:
    assert len(HUGE) > 2 * LARGE
    large = opened(client, tmp_path / "large.py", HUGE)
    small = opened(client, tmp_path / "small.py", SMALL)
    told: list[tuple[str, int]] = []
    version = 1
    while (large, 1) not in told:
        params = client.receive()["params"]
        told.append((params["uri"], params["version"]))
        assert codes(params["diagnostics"]) == ["ML204"]
        if params["uri"] == small and version < EDITS:
            version += 1
            changed(client, small, version, "# typed\n" * version + SMALL)
    assert told == [*((small, version) for version in range(1, EDITS + 1)), (large, 1)]
    assert client.messages == []


@pytest.mark.dear
def test_questions_about_others_do_not_wait_for_a_large_document(client: Client, tmp_path: Path) -> None:
    large = opened(client, tmp_path / "large.py", TABLE)
    small = opened(client, tmp_path / "small.py", SMALL)
    client.send("textDocument/diagnostic", {"textDocument": {"uri": large}}, 5)
    client.send("textDocument/diagnostic", {"textDocument": {"uri": small}}, 6)
    hover = {"textDocument": {"uri": large}, "position": {"line": 7, "character": 10}}
    client.send("textDocument/hover", hover, 7)
    order = []
    while len(order) < 3:
        message = client.receive()
        if "id" in message:
            order.append(message["id"])
            if message["id"] != 7:
                assert codes(message["result"]["items"]) == ["ML204"]
    assert order == [6, 7, 5]


def test_a_large_file_is_not_read_for_others(client: Client, tmp_path: Path) -> None:
    base = "from torch import nn\n\n\nclass Base(nn.Linear):\n    pass\n"
    heir = SMALL.replace("[nn.Linear(", "[Base(").replace("nn\n", "nn\nfrom {} import Base\n", 1)
    (tmp_path / "base.py").write_text(base)
    (tmp_path / "large.py").write_text(base + "# note\n" * 200_000)
    for name, expected in (("base", ["ML204"]), ("large", [])):
        uri = opened(client, tmp_path / f"of_{name}.py", heir.format(name))
        assert codes(client.diagnostics(uri, 1)) == expected


@pytest.mark.dear
def test_a_large_document_that_changes_is_checked_anew(client: Client, tmp_path: Path) -> None:
    large = opened(client, tmp_path / "large.py", HUGE)
    being_checked(client)
    changed(client, large, 2, TABLE.replace("for layer in self.layers", "for layer in ()"))
    params = client.receive()["params"]
    assert (params["version"], params["diagnostics"]) == (2, [])
    changed(client, large, 3, SMALL)
    assert codes(client.diagnostics(large, 3)) == ["ML204"]


@pytest.mark.dear
def test_a_large_document_can_be_closed_while_it_is_checked(client: Client, tmp_path: Path) -> None:
    large = opened(client, tmp_path / "large.py", HUGE)
    being_checked(client)
    client.send("textDocument/didClose", {"textDocument": {"uri": large}})
    small = opened(client, tmp_path / "small.py", SMALL)
    assert client.receive()["params"]["uri"] == small
    client.send("shutdown", None, 5)
    client.answer(5)
    client.send("exit", None)
    assert client.process.wait(PATIENCE) == 0


@pytest.mark.dear
@pytest.mark.skipif(not HAS_PROC, reason="looks at processes in /proc")
def test_the_process_for_large_documents_ends_with_the_server(client: Client, tmp_path: Path) -> None:
    opened(client, tmp_path / "large.py", HUGE)
    aside = being_checked(client)
    client.process.kill()
    client.process.wait()
    while any(is_alive(pid) for pid in aside):
        time.sleep(0.05)


def being_checked(client: Client) -> list[int]:
    """Wait until a process of the server's checks a document, and give its id."""
    if not HAS_PROC:
        time.sleep(1)
        return []
    while not (found := children(client.process.pid)):
        time.sleep(0.05)
    return found


def children(parent: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, _, rest = status.read_text().partition(" ")
        except OSError:
            continue
        if rest.rpartition(") ")[2].split()[1] == str(parent):
            found.append(int(pid))
    return found


def is_alive(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_process_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(settings_for([tmp_path], isolated=True))
    path = tmp_path / "large.py"
    session.open(path, SMALL.encode() + b"#" * LARGE)
    session.check()
    task = session.aside()
    assert task is not None
    assert not session.is_checked(path)
    monkeypatch.setattr(sys, "executable", os.devnull if os.name == "nt" else "/bin/false")
    results: list[object] = []
    aside = Aside(task, lambda _, result: results.append(result))
    aside.wait()
    assert results == [None]
    session.take(path, None)
    assert not session.is_checked(path)
    assert session.findings() == []


def test_nothing_is_said_of_a_document_that_is_not_yet_checked(client: Client, tmp_path: Path) -> None:
    """Each document is told of once its own text is checked, and then with all that is found in it."""
    uris = [opened(client, tmp_path / f"{number}.py", SMALL) for number in range(30)]
    told = []
    while len(told) < len(uris):
        params = client.receive()["params"]
        told.append(params["uri"])
        assert codes(params["diagnostics"]) == ["ML204"]
    assert sorted(told) == sorted(uris)


def test_settings_that_change_clear_nothing_that_stays(client: Client, tmp_path: Path) -> None:
    uris = [opened(client, tmp_path / f"{number}.py", SMALL) for number in range(10)]
    for _ in uris:
        assert codes(client.receive()["params"]["diagnostics"]) == ["ML204"]
    (tmp_path / "modellint.toml").write_text('ignore = ["ML101"]\n')
    event = {"uri": (tmp_path / "modellint.toml").as_uri(), "type": 2}
    client.send("workspace/didChangeWatchedFiles", {"changes": [event]})
    changed(client, uris[0], 2, "x = 1\n")
    while (params := client.receive()["params"])["version"] != 2:
        assert codes(params["diagnostics"]) == ["ML204"]
    assert params["diagnostics"] == []
