"""Fork servers: guarded processes that have imported torch, and fork a guarded child for each group of probes.

A fork server runs no code of the project, and its children can reach neither it nor each other. It is asked over a
socket. With each wish go the child's two pipes and one more socket, its line: there the server says the number of the
child, and later how it ended; it kills the child when our end of the line is closed. So the number is never used once
it may belong to somebody else, and nothing is left running by whoever goes away.

Only where the operating system guards in full can there be one. Elsewhere, and whenever a server does not do what is
wanted of it, UnservedError says so, and the group gets a process that imports torch for itself.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.confirm.environment import environment, folders
from modellint.confirm.guard.launch import REFUSED, UNFIT
from modellint.confirm.guarded import CHANNEL, Guarded
from modellint.confirm.messages import Conversation
from modellint.confirm.scratch import scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.confirm.guarded import Guarding, Process
    from modellint.confirm.scratch import Scratch

_HERE = Path(__file__).parent
#: Starts the server, and becomes the worker in its children, without their folder on the search path of user code.
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from worker import forkserver, main; sys.path.pop(0); "
    "main.main(*forkserver.serve(*sys.argv[2:]))"
)
#: Seconds between two looks at a condition that is waited for.
_POLL = 0.02


class UnservedError(Exception):
    """A fork server does not do what is wanted of it."""


class ForkServers:
    """The fork servers of a run, by interpreter and guard: each is started when first asked for.

    They end with the block, as they do in any case when this process ends.
    """

    def __init__(self) -> None:
        self._servers: dict[tuple[Path, Guarding], ForkServer] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> ForkServers:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End all, with all of their children."""
        with self._lock:
            servers = [*self._servers.values()]
            self._servers.clear()
        for server in servers:
            server.close()

    def get(self, python: Path, guarding: Guarding) -> ForkServer | None:
        """The server of an interpreter, once it can be asked; None where there can be none.

        A process that uses a GPU has to be started as one, since CUDA does not survive forks.
        """
        if sys.platform != "linux" or not guarding.is_on or guarding.device == "cuda":
            return None
        known = python, replace(guarding, device="auto")  # all devices but that one are the same to a server
        with self._lock:
            server = self._servers.get(known)
            if server is None:
                server = self._servers[known] = ForkServer(*known)
        return server if server.is_ready(guarding.stop) else None


class ForkServer:
    """One fork server: started at once, in a thread that lives as long, to which its death signal is tied."""

    def __init__(self, python: Path, guarding: Guarding) -> None:
        self._python = python
        self._guarding = replace(guarding, mode="required", stop=threading.Event())
        self._control, self._other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(guarding.limits.seconds)
        self._said = Conversation(())
        self._is_settled = threading.Event()
        self._place: Scratch | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def is_ready(self, stop: threading.Event) -> bool:
        """Wait until the server can be asked; False if it could not be started, or if `stop` is set first."""
        while not self._is_settled.wait(_POLL):
            if stop.is_set():
                return False
        return self._place is not None

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Scratch]:
        """A scratch folder for a child, which goes when the block ends. Raises UnservedError."""
        place = self._place
        if place is None:
            raise UnservedError
        with contextlib.ExitStack() as stack:
            try:
                inner = stack.enter_context(place.within())
            except OSError as error:
                raise UnservedError from error
            yield inner

    def fork(self, request: str, place: Scratch, guarding: Guarding, channel: int, complaints: int) -> Process:
        """Fork a child that answers the request in a file, and speaks and complains on two descriptors.

        Raises UnservedError, and so do the methods of the child.
        """
        launch = asdict(self._guarding.launch(place.folder, channel))
        message = json.dumps({"launch": launch, "request": request, "environment": folders(place.folder)})
        line, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other_end:
            try:
                socket.send_fds(self._control, [message.encode()], [channel, complaints, other_end.fileno()])
            except OSError as error:
                line.close()
                raise UnservedError from error
        return _Forked(line, guarding)

    def close(self) -> None:
        """End the server with all of its children."""
        self._guarding.stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            with scratch() as place:
                child = Guarded(place.folder, self._guarding)
                command = [str(self._python), "-s", "-c", _START, str(_HERE), str(self._other_end.fileno()), CHANNEL]

                def take(line: bytes) -> None:
                    self._said.take(line)
                    if self._said.is_done and not self._said.is_doubtful:
                        child.is_limited = False
                        self._place = place
                        self._is_settled.set()

                try:
                    child.run(command, take, environment(place.folder, self._guarding.device), self._other_end.fileno())
                finally:
                    self._place = None
        except OSError:  # no scratch folder can be made
            pass
        finally:
            self._control.close()
            self._other_end.close()
            self._is_settled.set()


class _Forked:
    """A child of a fork server, at the other end of its line."""

    def __init__(self, line: socket.socket, guarding: Guarding) -> None:
        self._line = line
        self._code: int | None = None
        try:
            self.pid = self._number(guarding)
        except UnservedError:
            line.close()
            raise

    def is_gone(self) -> bool:
        """True if the child has ended, as the server says on the line."""
        self._line.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            self._code = self._receive()
        return self._code is not None

    def end(self) -> int:
        """Kill the child if it still runs; gives its exit code. Raises UnservedError if the server made it fail."""
        with self._line:
            if self._code is None:
                with contextlib.suppress(OSError):
                    self._line.shutdown(socket.SHUT_WR)
                self._line.settimeout(None)
                self._code = self._receive()
        if self._code in (REFUSED, UNFIT):
            raise UnservedError
        return self._code

    def _number(self, guarding: Guarding) -> int:
        """The first thing that is said: the number of the child."""
        end = time.monotonic() + guarding.limits.seconds
        self._line.settimeout(_POLL)
        while not guarding.stop.is_set() and time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                return self._receive()
        raise UnservedError

    def _receive(self) -> int:
        try:
            data = self._line.recv(64)
        except ConnectionError as error:
            raise UnservedError from error
        if not data:
            raise UnservedError
        return int(data)
