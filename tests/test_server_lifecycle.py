"""How the server begins and ends, and what it answers to messages that are wrong, as LSP 3.17 has it."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from editor import Client, Connection

from modellint.server.stdio import HeaderError, bodies

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, NOT_INITIALIZED = -32700, -32600, -32601, -32602, -32002
SLOW = "from torch import nn\n\n\n" + "\n\n".join(
    f"class Text{number}(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
    f"        self.table = nn.Embedding(size, 8)\n        self.layers = [nn.Linear(8, 8)]\n\n"
    f"    def forward(self, ids):\n        return self.layers[0](self.table(ids))\n"
    for number in range(1_000)
)
HOVER = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Connection]:
    """A server that was told nothing yet."""
    connection = Connection(tmp_path, subprocess.PIPE)
    yield connection
    connection.process.kill()
    connection.process.communicate()


def begin(server: Connection) -> None:
    server.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
    assert "result" in server.answer(1)
    server.send("initialized", {})


def code(message: dict[str, Any]) -> int:
    return int(message["error"]["code"])


def ended(server: Connection) -> tuple[int, str]:
    """What the server ends with, and what it says on stderr."""
    code = server.process.wait(60)
    assert server.process.stderr is not None
    return code, server.process.stderr.read().decode()


def test_nothing_but_initialize_comes_first(server: Connection) -> None:
    server.send("textDocument/didOpen", {"textDocument": {"uri": "file:///a.py"}})
    server.send("textDocument/hover", HOVER, 7)
    answer = server.receive()
    assert (answer["id"], code(answer)) == (7, NOT_INITIALIZED)
    server.send("shutdown", None, 8)
    assert code(server.answer(8)) == NOT_INITIALIZED
    begin(server)
    server.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 9)
    assert code(server.answer(9)) == INVALID_REQUEST


def test_nothing_but_exit_comes_after_shutdown(server: Connection) -> None:
    begin(server)
    server.send("shutdown", None, 2)
    assert server.answer(2)["result"] is None
    server.send("textDocument/hover", HOVER, 3)
    assert code(server.answer(3)) == INVALID_REQUEST
    server.send("shutdown", None, 4)
    assert code(server.answer(4)) == INVALID_REQUEST
    server.send("textDocument/didOpen", {"textDocument": {"uri": "file:///a.py"}})
    server.send("exit", None)
    assert ended(server) == (0, "")


def test_exit_without_shutdown_is_a_failure(server: Connection) -> None:
    begin(server)
    server.send("exit", None)
    assert ended(server) == (1, "")


def test_exit_comes_before_initialize_as_well(server: Connection) -> None:
    server.send("exit", None)
    assert ended(server) == (1, "")


@pytest.mark.parametrize("said_goodbye", [True, False])
def test_an_editor_that_is_gone_ends_the_server(server: Connection, said_goodbye: bool) -> None:
    begin(server)
    if said_goodbye:
        server.send("shutdown", None, 2)
        server.answer(2)
    assert server.process.stdin is not None
    server.process.stdin.close()
    server.process.stdin = None
    assert ended(server) == (0 if said_goodbye else 1, "")


def test_an_editor_that_is_gone_in_the_middle_of_a_message_ends_the_server(server: Connection) -> None:
    begin(server)
    server.write(b'Content-Length: 100\r\n\r\n{"jsonrpc"')
    assert server.process.stdin is not None
    server.process.stdin.close()
    server.process.stdin = None
    assert ended(server) == (1, "")


def test_what_is_wrong_with_a_request_is_answered(server: Connection) -> None:
    begin(server)
    for number, (method, params, expected) in enumerate(
        (
            ("textDocument/hover", {"textDocument": {"uri": "file:///a.py"}}, INVALID_PARAMS),
            ("textDocument/hover", {**HOVER, "position": {"line": -1, "character": 0}}, INVALID_PARAMS),
            ("textDocument/hover", [1, 2], INVALID_PARAMS),
            ("textDocument/codeAction", None, INVALID_PARAMS),
            ("textDocument/definition", HOVER, UNKNOWN_METHOD),
            ("$/unheardOf", None, UNKNOWN_METHOD),
            ("textDocument/didOpen", {"textDocument": {}}, INVALID_PARAMS),
            ("textDocument/didClose", {"textDocument": {"uri": "file:///a.py"}}, INVALID_REQUEST),
            ("workspace/executeCommand", {"command": "rm"}, INVALID_PARAMS),
        ),
        start=10,
    ):
        server.send(method, params, number)
        assert (method, code(server.answer(number))) == (method, expected)


def test_notifications_that_are_wrong_are_ignored(server: Connection) -> None:
    begin(server)
    server.send("textDocument/didOpen", {"textDocument": {"uri": 5}})
    server.send("textDocument/didChange", None)
    server.send("textDocument/hover", HOVER)
    server.send("modellint/unheardOf", {})
    server.send("$/cancelRequest", {"id": 77})
    server.send("shutdown", None, 2)
    assert server.receive()["id"] == 2


def test_what_is_no_message_is_answered(server: Connection) -> None:
    begin(server)
    for body, number, expected in (
        (b"{", None, PARSE_ERROR),
        (b"", None, PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "method": "\xff"}', None, PARSE_ERROR),
        (b"[" * 100_000, None, PARSE_ERROR),
        (b"[]", None, INVALID_REQUEST),
        (b"5", None, INVALID_REQUEST),
        (b'{"id": 5, "method": "shutdown"}', 5, INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 5, "method": null}', 5, INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": [5], "method": "shutdown"}', None, INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 5}', 5, INVALID_REQUEST),
    ):
        server.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        answer = server.receive()
        assert (body[:50], answer["id"], code(answer)) == (body[:50], number, expected)
    server.send("shutdown", None, 2)
    assert server.answer(2)["result"] is None


def test_an_answer_that_nobody_waits_for_is_ignored(server: Connection) -> None:
    begin(server)
    for body in (
        {"id": 99, "result": {}},
        {"id": "x", "error": {"code": 1, "message": "no"}},
        {"id": 98, "error": 5},
    ):
        data = json.dumps({"jsonrpc": "2.0", **body}).encode()
        server.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    server.send("shutdown", None, 2)
    assert server.receive()["id"] == 2


def test_headers_may_be_written_in_other_ways() -> None:
    stream = b"content-length:2\r\nContent-Type: a\r\n\r\n{}Content-Length: 3 \n\n[1]Content-Length: 5\r\n\r\n[1]"
    assert list(bodies(io.BytesIO(stream))) == [b"{}", b"[1]"]


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: none\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 99999999999999999999999\r\n\r\n",
        b"Content-Type: text/plain\r\n\r\n",
        b"\r\n\r\n",
        b"hello\r\n",
        b"x" * 20_000,
    ],
)
def test_headers_that_are_not_understood(header: bytes) -> None:
    with pytest.raises(HeaderError, match=r"expected|without"):
        list(bodies(io.BytesIO(header + b"{}")))


def test_a_header_that_is_not_understood_ends_the_server(server: Connection) -> None:
    begin(server)
    server.write(b"Content-Length: none\r\n\r\n{}")
    answer = server.receive()
    assert (code(answer), answer["id"]) == (PARSE_ERROR, None)
    assert ended(server) == (1, "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("busy", [True, False])
def test_signals_end_the_server(server: Connection, tmp_path: Path, number: signal.Signals, busy: bool) -> None:
    begin(server)
    if busy:
        item = {"uri": (tmp_path / "model.py").as_uri(), "languageId": "python", "version": 1, "text": SLOW}
        server.send("textDocument/didOpen", {"textDocument": item})
        server.send("textDocument/hover", HOVER, 5)
        time.sleep(0.5)
    server.process.send_signal(number)
    assert ended(server) == (128 + number, "")


def test_shutdown_is_answered_while_something_is_checked(tmp_path: Path) -> None:
    client = Client(tmp_path)
    uri = (tmp_path / "model.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": SLOW}
    client.send("textDocument/didOpen", {"textDocument": item})
    client.send("textDocument/diagnostic", {"textDocument": {"uri": uri}}, 2)
    client.send("shutdown", None, 3)
    first, second = client.receive(), client.receive()
    answers = {first["id"]: first, second["id"]: second}
    assert code(answers[2]) == -32800  # RequestCancelled
    assert answers[3]["result"] is None
    client.send("exit", None)
    assert client.process.wait(60) == 0


def test_an_editor_that_does_not_read_can_be_left(server: Connection, tmp_path: Path) -> None:
    """More is to be told than a pipe holds; the server still hears what it is told."""
    begin(server)
    text = "from torch import nn\n" + "".join(
        f"table{n} = nn.Embedding({n}, 8, padding_idx={n})\n" for n in range(2_000)
    )
    for version in range(3):
        item = {"uri": (tmp_path / f"{version}.py").as_uri(), "languageId": "python", "version": 1, "text": text}
        server.send("textDocument/didOpen", {"textDocument": item})
    time.sleep(1)
    server.send("exit", None)
    assert server.process.wait(60) == 1
