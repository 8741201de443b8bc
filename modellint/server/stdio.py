"""The server on stdin and stdout: messages with their headers, signals, and the end.

pygls (2.1.1) waits for stdin when it is told to end, exits with 0 whatever came before, and reads on for ever behind
a header that it does not understand.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import threading
from typing import TYPE_CHECKING, BinaryIO

from pygls.exceptions import JsonRpcParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from modellint.server.editor import Server

#: Bytes that a header, and a message, may have.
_LONGEST_HEADER, _LARGEST = 10_000, 1 << 30
#: Seconds in which an editor that is still there reads what it was told last.
_LAST_WORDS = 1.0
_STDIN, _STDOUT = 0, 1


class HeaderError(Exception):
    """A header behind which nobody knows where the next message begins."""


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
            for body in bodies(open(_STDIN, "rb", closefd=False)):  # noqa: SIM115 (never ours to close)
                later(server.protocol.receive, body)
        except HeaderError as error:
            later(server.protocol.refuse, JsonRpcParseError(str(error)))
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


def bodies(stream: BinaryIO) -> Iterator[bytes]:
    """The messages in a stream, without their headers, until it ends. Raises HeaderError."""
    while (length := _length(stream)) is not None:
        body = stream.read(length)
        if len(body) < length:
            return
        yield body


def _length(stream: BinaryIO) -> int | None:
    """The length of the next message; None at the end of the stream."""
    length: int | None = None
    while True:
        line = stream.readline(_LONGEST_HEADER)
        if not line:
            return None
        name, colon, value = line.partition(b":")
        if not line.strip():
            if length is None:
                raise HeaderError("a header without `Content-Length`")
            return length
        if not line.endswith(b"\n") or not colon:
            raise HeaderError(f"expected a header `Content-Length: 123`, not {_shown(line)}")
        if name.strip().lower() == b"content-length":
            length = int(value) if value.strip().isdigit() and len(value) < 20 else _LARGEST + 1
            if length > _LARGEST:
                raise HeaderError(f"expected a length of at most {_LARGEST} bytes, not {_shown(value)}")


def _shown(data: bytes) -> str:
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
