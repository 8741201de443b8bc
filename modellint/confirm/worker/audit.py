"""Audit hooks that see what user code tries, say it in words, and block it while that can still be said.

What code may do is enforced by the operating system where it can be (the launcher of the process has seen to it); an
error from there names no attempt. Where it cannot be, this is all there is: it keeps honest code from doing harm by
accident, and is no sandbox against code that means to break out.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

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
        "_winapi.CreateProcess",
    )
)
_SOCKETS = frozenset(
    (
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyaddr",
        "socket.gethostbyname",
        "socket.sendmsg",
        "socket.sendto",
    )
)
_NETWORK = "use the network"
_INTERNET = (2, 10, 23, 30)  # AF_INET, and AF_INET6 of Linux, Windows and macOS
#: Events that change the file system: the arguments that are paths, each with that of the folder it is relative to.
_NONE = -1
_CHANGES = {
    "os.chflags": ((0, _NONE),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, _NONE),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, _NONE),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, _NONE),),
    "os.utime": ((0, 3),),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class BlockedError(PermissionError):
    """User code tried what a confirming run does not allow."""


class Audit:
    """Blocks writes outside of `scratch`, sockets and child processes in this process, for good."""

    def __init__(self, scratch: str, *, is_alone: bool) -> None:
        self._scratch = os.path.realpath(scratch)
        #: True if no operating system guards: then even opening a database is blocked, which may only be read.
        self._is_alone = is_alone
        #: The attempts that were blocked, each once, in order: user code may swallow the exception.
        self.blocked: list[str] = []

    def install(self) -> None:
        """Start to watch. Audit hooks cannot be removed again."""
        self._watch_unseen()
        sys.addaudithook(self._hook)

    def note(self, what: str) -> None:
        """Note an attempt."""
        if what not in self.blocked:
            self.blocked.append(what)

    def block(self, what: str) -> BlockedError:
        """Note what was tried, and give the exception to raise."""
        self.note(what)
        return BlockedError(f"modellint does not let code {what} while it confirms")

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            if not isinstance(path, int) and _is_writing(mode, flags):
                self._check("write", path, None)
        elif event in _CHANGES:
            for at, base in _CHANGES[event]:
                self._check("change", arguments[at], arguments[base] if 0 <= base < len(arguments) else None)
        elif event == "sqlite3.connect" and self._is_alone:
            self._check("open the database", arguments[0], None)
        elif event in _PROCESSES:
            raise self.block("start or signal a process")
        elif event == "socket.__new__" and arguments[1] in _INTERNET:
            self.note(_NETWORK)  # which the system refuses, and which is no harm yet
        elif event in _SOCKETS and not self._is_own_socket(event, arguments):
            raise self.block(_NETWORK)

    def _check(self, verb: str, path: object, folder: object) -> None:
        """Block a change of a path outside the scratch folder; `folder` is the descriptor that it is relative to."""
        name = _path_of(path, folder)
        if name is None or not self._is_own(name):
            raise self.block(f"{verb} {name or repr(path)}")

    def _is_own(self, name: str) -> bool:
        """True if a path lies in the scratch folder, or is that of nothing on disk."""
        try:
            real = os.path.realpath(name)
        except (OSError, ValueError):
            return False
        in_memory = name == ":memory:"
        return in_memory or real in (os.devnull, self._scratch) or real.startswith(self._scratch + os.sep)

    def _is_own_socket(self, event: str, arguments: tuple[Any, ...]) -> bool:
        """True if the address of a socket is a file (a Unix socket) in the scratch folder."""
        address = arguments[-1]
        return (
            event in ("socket.bind", "socket.connect")
            and isinstance(address, str | bytes)
            and self._is_own(os.fsdecode(address))
        )

    def _watch_unseen(self) -> None:
        """Wrap functions that raise no audit event, or one that does not tell all."""
        for name in ("mkfifo", "mknod"):
            if hasattr(os, name):
                self._replace(name, lambda path, *_, dir_fd=None, **__: self._check("change", path, dir_fd))
        if os.open in os.supports_dir_fd:
            self._replace("open", self._check_open)
        self._forbid_fork_exec()

    def _replace(self, name: str, check: Callable[..., None]) -> None:
        """Wrap a function of `os` so that `check` sees its arguments first."""
        original = getattr(os, name)

        def checked(*arguments: Any, **options: Any) -> Any:
            check(*arguments, **options)
            return original(*arguments, **options)

        supported = os.supports_dir_fd
        if original in supported:
            supported.add(checked)
        for module in {os.name, "os"} & sys.modules.keys():
            setattr(sys.modules[module], name, checked)

    def _check_open(self, path: object, flags: object, *_: object, dir_fd: object = None) -> None:
        if dir_fd is not None and _is_writing(None, flags):
            self._check("write", path, dir_fd)

    def _forbid_fork_exec(self) -> None:
        """`multiprocessing` starts processes through a function that raises no audit event."""
        try:
            import _posixsubprocess
        except ImportError:
            return

        def fork_exec(*_: object) -> int:
            raise self.block("start or signal a process")

        _posixsubprocess.fork_exec = fork_exec


def _is_writing(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


def _path_of(path: object, folder: object) -> str | None:
    """The path that a call is about: of a descriptor, or relative to the folder of one (-1 and None: there is none)."""
    if isinstance(path, int):
        return _of_descriptor(path)
    try:
        name = os.fsdecode(path)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    if not isinstance(folder, int) or folder < 0 or os.path.isabs(name):
        return name
    base = _of_descriptor(folder)
    return None if base is None else os.path.join(base, name)


def _of_descriptor(descriptor: int) -> str | None:
    """The path of the file open as a descriptor; None where the system does not say, or it is no file."""
    try:
        if sys.platform == "darwin":
            import fcntl

            return os.fsdecode(fcntl.fcntl(descriptor, 50, b"\0" * 1024).rstrip(b"\0"))  # F_GETPATH
        name = os.readlink(f"/proc/self/fd/{descriptor}")
    except (OSError, ValueError):
        return None
    return name if os.path.isabs(name) else None
