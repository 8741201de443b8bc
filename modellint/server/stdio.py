"""The server on stdin and stdout: messages with their headers, signals, and the end.

pygls (2.1.1) waits for stdin when it is told to end, exits with 0 whatever came before, and reads on for ever behind
a header that it does not understand. Here such a header is answered with an error, and what follows is read from the
next one that is understood.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import re
import signal
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from pygls.exceptions import JsonRpcParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.server.editor import Server

#: Bytes that a line of a header, and a message, may have; and those that are read at once.
_LONGEST_LINE, _LARGEST, _CHUNK = 10_000, 1 << 30, 1 << 20
_FIELD = re.compile(rb"([A-Za-z0-9-]+)[ \t]*:[ \t]*([^\r\n]*?)[ \t]*\r?\n")
#: The beginning of a header, whatever stands before it, and the most bytes that it has.
_LENGTH = re.compile(rb"content-length[ \t]?:[ \t]?([0-9]{1,10})[ \t]?\r?\n\Z", re.IGNORECASE)
_LONGEST_LENGTH = 30
#: Seconds in which an editor that is still there reads what it was told last.
_LAST_WORDS = 1.0
_STDIN, _STDOUT = 0, 1


@dataclass(frozen=True, slots=True)
class Garbage:
    """Bytes that are no header: the reason, and the line that may have the beginning of the next one."""

    reason: str
    line: bytes = b""


def serve(server: Server) -> int:
    """Serve an editor until it leaves, or a signal says to end: the exit code."""
    return asyncio.run(_serve(server))


async def _serve(server: Server) -> int:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[int] = loop.create_future()

    def end(code: int) -> None:
        if not over.done():
            over.set_result(code)

    def later(call: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(call, *arguments)

    def read() -> None:
        try:
            for found in messages(open(_STDIN, "rb", closefd=False)):  # noqa: SIM115 (never ours to close)
                if isinstance(found, Garbage):
                    later(server.protocol.refuse, JsonRpcParseError(found.reason))
                else:
                    later(server.protocol.receive, found)
        except OSError:
            pass
        later(lambda: end(server.protocol.exit_code))

    writer = Writer(_STDOUT, lambda: later(end, 1))
    server.protocol.set_writer(writer)
    server.protocol.when_over = end
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: later(end, 128 + number))
    threading.Thread(target=read, name="read", daemon=True).start()
    try:
        return await over
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        server.end()
        writer.close()


def messages(stream: BinaryIO) -> Iterator[bytes | Garbage]:
    """The messages in a stream, without headers, until it ends; and one `Garbage` for each stretch that is none."""
    while (found := _header(stream)) is not None:
        if isinstance(found, Garbage):
            yield found
            found = _next_length(stream, found.line)
            if found is None:
                return
        body = _read(stream, found)
        if body is None:
            return
        yield body


def _header(stream: BinaryIO) -> int | Garbage | None:
    """The length that the next header gives; None at the end of the stream. Empty lines before it mean nothing."""
    length: int | None = None
    has_begun = False
    while line := stream.readline(_LONGEST_LINE):
        if not line.strip():
            if not has_begun:
                continue
            return Garbage("a header without `Content-Length`") if length is None else length
        has_begun = True
        field = _FIELD.fullmatch(line)
        is_length = field is not None and field[1].lower() == b"content-length"
        if field is None or (not is_length and _LENGTH.search(line)):
            return Garbage(f"expected a header `Content-Length: 123`, not {_excerpt(line)}", line)
        if is_length:
            given = int(field[2]) if field[2].isdigit() and len(field[2]) <= _LONGEST_LENGTH else _LARGEST + 1
            if given > _LARGEST:
                return Garbage(f"expected a length of at most {_LARGEST} bytes, not {_excerpt(field[2])}", line)
            if length not in (None, given):
                return Garbage(f"expected one `Content-Length`, not {length} and {given}")
            length = given
    return None


def _next_length(stream: BinaryIO, line: bytes) -> int | None:
    """The length in the next valid header, in `line` or behind it; None at the end of the stream."""
    rest = b""
    while line := line or stream.readline(_LONGEST_LINE):
        match = _LENGTH.search(rest + line)
        # A line that is longer than one read may split a header in two.
        rest = b"" if line.endswith(b"\n") else line[-_LONGEST_LENGTH:]
        line = b""
        if match is not None and int(match[1]) <= _LARGEST:
            is_sure = True
            while field := _FIELD.fullmatch(line := stream.readline(_LONGEST_LINE)):
                is_sure &= field[1].lower() != b"content-length" or field[2] == match[1]
            if is_sure and line and not line.strip():
                return int(match[1])
    return None


def _read(stream: BinaryIO, length: int) -> bytes | None:
    """The next `length` bytes, for which memory is taken as they come; None if the stream ends before."""
    parts = []
    while length > 0:
        part = stream.read(min(length, _CHUNK))
        if not part:
            return None
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _excerpt(data: bytes) -> str:
    return repr(data[:40].strip().decode("utf-8", "replace"))


class Writer:
    """Writes in a thread of its own, so that an editor that does not read holds up nothing."""

    def __init__(self, descriptor: int, when_broken: Callable[[], object]) -> None:
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._descriptor = descriptor
        self._when_broken = when_broken
        self._thread = threading.Thread(target=self._run, name="write", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._waiting.put(data)

    def close(self) -> None:
        """Wait until everything is written, if somebody reads it."""
        self._waiting.put(None)
        self._thread.join(_LAST_WORDS)

    def _run(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
        except OSError:  # nobody is there any more
            self._when_broken()
