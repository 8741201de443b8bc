"""What user code may do while it is being run: read, compute, and write to a scratch folder.

This keeps honest code from doing harm by accident: an import that writes a cache, downloads a file or starts a server.
It is no sandbox against code that means to break out.
"""

from __future__ import annotations

import os
import sys
from typing import Any

#: Events of `sys.addaudithook` that start other processes or talk to them.
_PROCESSES = frozenset(
    (
        "subprocess.Popen",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.kill",
        "os.killpg",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
    )
)
_SOCKETS = frozenset(("socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"))
#: Events that change the file system, by how many of their first arguments are paths.
_CHANGES = {
    "os.chflags": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.setxattr": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class BlockedError(PermissionError):
    """User code tried what a confirming run does not allow."""


class Guard:
    """Blocks writes outside of `scratch`, sockets and child processes in this process, for good."""

    def __init__(self, scratch: str) -> None:
        self._scratch = os.path.realpath(scratch)
        #: What was blocked, each once, in order: user code may swallow the exception.
        self.blocked: list[str] = []

    def install(self) -> None:
        """Start to guard. Audit hooks cannot be removed again."""
        sys.addaudithook(self._audit)
        _forbid_fork_exec(self)

    def block(self, what: str) -> BlockedError:
        """Note what was tried, and give the exception to raise."""
        if what not in self.blocked:
            self.blocked.append(what)
        return BlockedError(f"modellint does not let code {what} while it confirms")

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if not isinstance(path, int) and _is_writing(mode, flags) and not self._may_write(path):
                raise self.block(f"write {_shown(path)}")
        elif event in _CHANGES:
            paths = arguments[: _CHANGES[event]]
            if not all(isinstance(path, int) or self._may_write(path) for path in paths):
                raise self.block(f"change {_shown(paths[-1])}")
        elif event in _PROCESSES:
            raise self.block("start or signal a process")
        elif event in _SOCKETS and not _is_local(event, arguments):
            raise self.block("use the network")

    def _may_write(self, path: object) -> bool:
        try:
            real = os.path.realpath(os.fsdecode(path))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return False
        return real == os.devnull or real == self._scratch or real.startswith(self._scratch + os.sep)


def _is_writing(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


def _is_local(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether an address names a file (a Unix socket), which can lead nowhere but to this machine."""
    return event in ("socket.bind", "socket.connect") and isinstance(arguments[-1], str | bytes)


def _shown(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else repr(path)


def _forbid_fork_exec(guard: Guard) -> None:
    """`multiprocessing` starts processes through a function that raises no audit event."""
    try:
        import _posixsubprocess
    except ImportError:
        return

    def fork_exec(*_: object) -> int:
        raise guard.block("start or signal a process")

    _posixsubprocess.fork_exec = fork_exec


def limit_memory(address_space: int) -> None:
    """Let allocations beyond `address_space` bytes fail, where the system can do that."""
    try:
        import resource
    except ImportError:
        return
    for limit, value in ((resource.RLIMIT_AS, address_space), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(limit)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (allowed, hard))
