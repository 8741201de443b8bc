"""How the server begins and ends, and what it answers to messages that are wrong, as LSP 3.17 has it."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from editor import Client, Connection
from effort import PATIENCE
from hypothesis import given, settings
from hypothesis import strategies as st

from modellint.server.stdio import Garbage, messages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, NOT_INITIALIZED = -32700, -32600, -32601, -32602, -32002
REQUEST_CANCELLED = -32800
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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server for questions about a document of two lines."""
    client = Client(tmp_path_factory.mktemp("shared"))
    item = {"uri": "file:///shared.py", "languageId": "python", "version": 1, "text": "x = 1\ny = 2\n"}
    client.send("textDocument/didOpen", {"textDocument": item})
    yield client
    client.process.kill()
    client.process.communicate()


def begin(server: Connection) -> None:
    server.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
    assert "result" in server.answer(1)
    server.send("initialized", {})


def code(message: dict[str, Any]) -> int:
    return int(message["error"]["code"])


def ended(server: Connection) -> tuple[int, str]:
    """What the server ends with, and what it says on stderr."""
    code = server.process.wait(PATIENCE)
    assert server.process.stderr is not None
    return code, server.process.stderr.read().decode()


@pytest.mark.dear
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
            ("textDocument/typeDefinition", HOVER, UNKNOWN_METHOD),
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


def test_completions_that_the_editor_cancels_are_answered_all_the_same(server: Connection, tmp_path: Path) -> None:
    begin(server)
    uri = (tmp_path / "config.yaml").as_uri()
    text = "width: 3\nmodel:\n  _target_: torch.nn.Linear\n  in_features: ${\n"
    server.send(
        "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}}
    )
    place = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 17}}
    for number in range(20, 40):
        server.send("textDocument/completion", place, number)
        server.send("$/cancelRequest", {"id": number})
    answers = [server.answer(number) for number in range(20, 40)]
    assert {answer["error"]["code"] for answer in answers if "error" in answer} <= {REQUEST_CANCELLED}
    server.send("textDocument/completion", place, 40)
    assert {item["label"] for item in server.answer(40)["result"]} > {"width", "model"}


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
    assert list(messages(io.BytesIO(stream))) == [b"{}", b"[1]"]


GARBAGE = [
    b"Content-Length: none\r\n\r\n",
    b"Content-Length: \r\n\r\n",
    b"Content-Length: -5\r\n\r\n",
    b"Content-Length: 1073741825\r\n\r\n",
    b"Content-Length: 99999999999999999999999\r\n\r\n",
    b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n",
    b"Content-Type: text/plain\r\n\r\n",
    b"hello\r\n",
    b"hello",
    b"x" * 20_000,
    b"x" * 9_990,
    b"\xff\xfe\0\n",
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
@pytest.mark.parametrize("rest", [b"", b"{}", b"{}\n\n"])
def test_what_follows_a_header_that_is_not_understood_is_read(garbage: bytes, rest: bytes) -> None:
    stream = b"Content-Length: 1\r\n\r\n1" + garbage + rest + b"content-length: 3\r\nContent-Type: a\r\n\r\n[1]"
    first, wrong, last = messages(io.BytesIO(stream))
    assert (first, last) == (b"1", b"[1]")
    assert isinstance(wrong, Garbage)
    assert "expected" in wrong.reason or "without" in wrong.reason


def test_empty_lines_between_messages_mean_nothing() -> None:
    stream = b"\r\n\n\r\nContent-Length: 1\r\n\r\n1\n\n\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n[1]\r\n"
    assert list(messages(io.BytesIO(stream))) == [b"1", b"[1]"]


def test_a_length_that_is_too_short_costs_one_message() -> None:
    stream = b"Content-Length: 2\r\n\r\n{}}}Content-Length: 3\r\n\r\n[1]"
    first, wrong, last = messages(io.BytesIO(stream))
    assert (first, type(wrong), last) == (b"{}", Garbage, b"[1]")


def test_room_is_made_for_what_comes_only() -> None:
    tracemalloc.start()
    assert list(messages(io.BytesIO(b"Content-Length: 1000000000\r\n\r\n{}"))) == []
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()


def framed(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


#: What is no header of a length that somebody could take for one.
ANYTHING = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([*(part for part in GARBAGE if b"th: 2" not in part), b"\r\n", b"Content-Length: ", b"{}\n"]),
)


@given(
    st.lists(ANYTHING).map(b"".join).filter(lambda data: not re.search(rb"(?i)content-length\s*:\s*[0-9]{1,9}\D", data))
)
def test_a_message_behind_anything_is_read(garbage: bytes) -> None:
    *_, last = messages(io.BytesIO(garbage + framed([1])))
    assert last == b"[1]"


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
METHODS = ["initialize", "textDocument/didOpen", "textDocument/codeAction", "$/cancelRequest", "unheardOf"]
MESSAGES = st.one_of(
    JUNK,
    st.fixed_dictionaries(
        {},
        optional={
            "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
            "id": JUNK,
            "method": st.sampled_from(METHODS) | JUNK,
            "params": JUNK,
            "result": JUNK,
            "error": JUNK,
        },
    ),
)


def test_anything_may_be_said_and_the_next_question_is_answered(server: Connection) -> None:
    """Framed and unframed, before `initialize` and after it, to one server."""
    number = 0

    @given(st.lists(st.one_of(MESSAGES.map(framed), st.sampled_from(GARBAGE), st.just(b"\r\n")), max_size=8))
    @settings(max_examples=40)
    def ask(parts: list[bytes]) -> None:
        nonlocal number
        number += 1
        server.write(b"".join(parts))
        server.send("textDocument/hover", HOVER, f"question {number}")
        answer = server.answer(f"question {number}")
        assert answer["result"] is None if number > limit else code(answer) == NOT_INITIALIZED

    limit = 1_000_000
    ask()
    limit = number
    begin(server)
    ask()
    server.send("shutdown", None, "end")
    server.answer("end")
    server.send("exit", None)
    assert server.process.wait(PATIENCE) == 0


def test_a_header_that_is_not_understood_is_answered(server: Connection) -> None:
    begin(server)
    server.write(b"\r\n\r\nContent-Length: none\r\n\r\n{}\r\n")
    server.send("shutdown", None, 2)
    answer = server.receive()
    assert (code(answer), answer["id"]) == (PARSE_ERROR, None)
    assert server.receive() == {"jsonrpc": "2.0", "id": 2, "result": None}


@pytest.mark.parametrize(
    ("start", "end", "is_there"),
    [
        ((0, 0), (0, 0), True),
        ((0, 0), (0, 5_000), True),
        ((0, 5_000), (1, 0), True),
        ((2, 0), (2, 0), True),
        ((1, 1), (1, 0), False),
        ((1, 0), (0, 9), False),
        ((0, 0), (3, 0), False),
        ((9, 0), (9, 0), False),
    ],
)
def test_ranges_have_to_be_in_the_document(
    shared: Client, start: tuple[int, int], end: tuple[int, int], is_there: bool
) -> None:
    place = {name: {"line": at[0], "character": at[1]} for name, at in (("start", start), ("end", end))}
    params = {"textDocument": {"uri": "file:///shared.py"}, "range": place, "context": {"diagnostics": []}}
    shared.send("textDocument/codeAction", params, 5)
    answer = shared.answer(5)
    assert answer["result"] == [] if is_there else code(answer) == INVALID_PARAMS
    if start == end:
        shared.send("textDocument/hover", {"textDocument": {"uri": "file:///shared.py"}, "position": place["end"]}, 6)
        answer = shared.answer(6)
        assert answer["result"] is None if is_there else code(answer) == INVALID_PARAMS


@pytest.mark.dear
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
    assert client.process.wait(PATIENCE) == 0


@pytest.mark.dear
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
    assert server.process.wait(PATIENCE) == 1
