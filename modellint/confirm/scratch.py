"""Folders that confirming runs may write to, and that no run leaves behind.

Each stands in a folder of its own beside a locked file. A run that was killed leaves both, but no lock: the next run
sees that and removes them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PREFIX = "modellint-run-"
_LOCK = "lock"
#: Seconds after which a folder without a lock is abandoned: its maker has had the time to lock it.
_GRACE = 60.0


class Scratch:
    """A place for one child process: `folder` is the child's, and what is beside it is not for the child to write."""

    def __init__(self, base: str) -> None:
        self._base = base
        self.folder = os.path.join(base, "scratch")
        os.mkdir(self.folder, 0o700)

    def beside(self, name: str) -> str:
        """The path of a file that only the linter writes."""
        return os.path.join(self._base, name)

    @contextlib.contextmanager
    def within(self) -> Iterator[Scratch]:
        """A place below the folder for a process that the child starts, which goes when the block ends."""
        base = tempfile.mkdtemp(dir=self.folder)
        try:
            yield Scratch(base)
        finally:
            _remove(base)


@contextlib.contextmanager
def scratch() -> Iterator[Scratch]:
    """A scratch folder, which goes when the block ends."""
    base, lock = _make_locked()
    try:
        yield Scratch(os.path.realpath(base))
    finally:
        _remove_locked(base, lock)


def sweep() -> None:
    """Remove the folders of runs that were killed."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            if entry.name.startswith(_PREFIX) and _is_ours(entry):
                _remove_left(entry.path)


def _make_locked() -> tuple[str, int]:
    """Make a scratch base and lock it, so that no other run takes it for an abandoned one.

    Another run that sweeps between the making of a lock and the taking of it has that folder: there is another one.
    """
    while True:
        base = tempfile.mkdtemp(prefix=_PREFIX)
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(os.path.join(base, _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
            if _take(lock) and os.path.exists(os.path.join(base, _LOCK)):
                return base, lock
            os.close(lock)


def _remove_locked(folder: str, lock: int) -> None:
    """Remove a folder and let go of its lock: in this order where the system allows it, so that nobody else has it."""
    if sys.platform == "win32":
        os.close(lock)
        _remove(folder)
    else:
        _remove(folder)
        os.close(lock)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


def _remove_left(folder: str) -> None:
    """Remove a folder whose lock nobody holds."""
    try:
        lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        if _age(folder) > _GRACE:
            _remove(folder)
    except OSError:
        return
    else:
        if _take(lock):
            _remove_locked(folder, lock)
        else:
            os.close(lock)


def _age(folder: str) -> float:
    try:
        return time.time() - os.stat(folder).st_mtime
    except OSError:
        return 0.0


def _take(lock: int) -> bool:
    """Try to lock an open file; True if that worked. The lock is held until the file is closed."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(folder: str) -> None:
    """Remove a folder with whatever code has put there: folders that forbid to be read, or nested without end."""
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    if os.path.isdir(folder) and os.name == "posix":
        for command in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            with contextlib.suppress(OSError):
                subprocess.run([*command, "--", folder], check=False, capture_output=True)
