"""The fork server's side: imports the packages that all groups of probes need, and forks a child for each.

Nothing of the project is imported or run before the fork, so that what a child does to its modules is its own. The
guard lets the server fork; a child gives that up before anything else, with all that its siblings must be safe from.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

from .beside import NAME
from .channel import Channel

#: Bytes of a message; the descriptors that come with it: for messages, for standard error, and the child's line.
_LONGEST, _DESCRIPTORS = 1 << 17, 3
_launch: Any = import_module(f"{NAME}.confirm.guard.launch")


def serve(control: str, channel: str) -> tuple[str, str]:
    """Fork a child for each message on the descriptor `control`; returns in children only: the arguments of `main`."""
    told = Channel(int(channel))
    told.stage("importing torch")
    server = _Server(socket.socket(fileno=int(control)), told)
    server.need_forks()  # what the environment has started already is known before the long import
    import torch  # noqa: F401

    from . import main, probes, session  # noqa: F401

    with contextlib.suppress(Exception):
        import hyperpyyaml  # noqa: F401

    server.need_forks()
    gc.freeze()
    told.done()
    return server.serve()


class _Server:
    def __init__(self, control: socket.socket, told: Channel) -> None:
        self._control = control
        self._told = told
        #: The lines of children that are not known to have ended, by process number.
        self._lines: dict[int, socket.socket] = {}
        self._wakes, self._woken = os.pipe()
        os.set_blocking(self._woken, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._wakes, select.POLLIN)
        self._can_pretend = False

    def need_forks(self) -> None:
        """End this process unless it can fork children."""
        if not self.can_fork():
            os._exit(_launch.UNFIT)

    def can_fork(self, *handed_on: int) -> bool:
        """True if a forked child would work, and share no descriptors with its siblings but those `handed_on` to it.

        Threads are not forked, and a resource that packages have opened or started exists only once.
        """
        lines = (line.fileno() for line in self._lines.values())
        own = {0, 1, 2, self._control.fileno(), self._told.fileno(), self._wakes, self._woken, *lines, *handed_on}
        return len(os.listdir("/proc/self/task")) == 1 and _children() <= self._lines.keys() and _open() <= own

    def serve(self) -> tuple[str, str]:
        """Fork until there is nobody to ask for it; returns in children only."""
        while True:
            for number, _ in self._poll.poll():
                if number == self._control.fileno():
                    arguments = self._fork()
                    if arguments is not None:
                        return arguments
                elif number == self._wakes:
                    os.read(self._wakes, 4096)
                    self._reap()
                else:
                    self._hang_up(number)

    def _fork(self) -> tuple[str, str] | None:
        """Take a message, and fork; None in the server."""
        data, descriptors, _, _ = socket.recv_fds(self._control, _LONGEST, _DESCRIPTORS)
        if len(descriptors) != _DESCRIPTORS:
            os._exit(0)
        wish = json.loads(data)
        with open(wish["request"], encoding="utf-8") as stream:
            request = json.load(stream)
        self._import_for(request)
        channel, complaints, number = descriptors
        server, line = os.getpid(), socket.socket(fileno=number)
        pid = _fork_process() if self.can_fork(*descriptors) else -1
        if pid == 0:
            self._leave(line)
            os.dup2(complaints, 2)
            os.close(complaints)
            _launch.enter(_launch.Launch(**{**wish["launch"], "parent": server, "channel": channel}))
            _settle(wish["environment"], request)
            return wish["request"], str(channel)
        os.close(channel)
        os.close(complaints)
        if pid < 0:
            line.close()
            return None
        self._lines[pid] = line
        self._poll.register(line, select.POLLIN)
        _send(line, pid)
        return None

    def _import_for(self, request: dict[str, Any]) -> None:
        from . import probes

        if self._can_pretend or not probes.pretends(request):
            return
        from torch._subclasses.fake_tensor import FakeTensorMode

        with contextlib.suppress(Exception):
            FakeTensorMode()
        self._can_pretend = True
        gc.freeze()

    def _leave(self, line: socket.socket) -> None:
        """Close, in a child, the descriptors of the server."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (line, *self._lines.values(), self._control):
            one.close()
        self._told.close()
        os.close(self._wakes)
        os.close(self._woken)

    def _reap(self) -> None:
        """Report how children have ended."""
        while self._lines:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            line = self._lines.pop(pid)
            with contextlib.suppress(KeyError):
                self._poll.unregister(line)
            _send(line, os.waitstatus_to_exitcode(status))
            line.close()

    def _hang_up(self, number: int) -> None:
        """Kill the child whose line the linter has closed."""
        for pid, line in self._lines.items():
            if line.fileno() == number:
                self._poll.unregister(line)
                os.kill(pid, signal.SIGKILL)


def _fork_process() -> int:
    """The result of `os.fork`, or -1 if the system allows no more processes."""
    try:
        return os.fork()
    except OSError:
        return -1


def _settle(environment: dict[str, str], request: dict[str, Any]) -> None:
    """Use the folders of a child; end it if its request would have imported other modules than the server has."""
    os.environ.update(environment)
    tempfile.tempdir = None
    is_replaced = any(name in sys.modules for name in request["stand_ins"])
    if is_replaced or _is_shadowed(request["roots"]):
        os._exit(_launch.UNFIT)


def _is_shadowed(roots: list[str]) -> bool:
    """True if a module of the project has the name of one that is imported from elsewhere."""
    for name in {name.partition(".")[0] for name in sys.modules}.difference(("__main__",), sys.builtin_module_names):
        spec = PathFinder.find_spec(name, roots)
        if spec is None or spec.loader is None:  # a folder without code gives way to packages
            continue
        known = getattr(sys.modules[name], "__file__", None)
        if known is None or spec.origin is None or os.path.realpath(known) != os.path.realpath(spec.origin):
            return True
    return False


def _open() -> set[int]:
    """The descriptors that are open."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself
            os.fstat(int(name))
            found.add(int(name))
    return found


def _children() -> set[int]:
    """The child processes of this one, with orphans that it adopted."""
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as stream:
        return set(map(int, stream.read().split()))


def _send(line: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody listens
        line.send(str(number).encode())
