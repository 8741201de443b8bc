"""A progress bar on a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO


class Progress:
    """A bar on a terminal's stderr, for runs that take long enough to wonder about."""

    _DELAY, _INTERVAL, _WIDTH = 2.0, 0.1, 30

    def __init__(self, *, quiet: bool = False) -> None:
        self._enabled = not quiet and sys.stderr.isatty()
        self._next = time.monotonic() + self._DELAY
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def update(self, done: int, total: int, unit: str = "files") -> None:
        if not self._enabled or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._INTERVAL
        self._shown = True
        counted = f"{done}/{total} {unit}"
        width = min(self._WIDTH, _columns_of(sys.stderr) - len(counted) - 4)
        filled = width * done // max(total, 1)
        bar = f"[{'#' * filled}{'.' * (width - filled)}] " if width > 0 else ""
        sys.stderr.write(f"\r{bar}{counted}\x1b[K")
        sys.stderr.flush()


def _columns_of(terminal: TextIO) -> int:
    """The width of a terminal; unlimited if it is not known."""
    try:
        return os.get_terminal_size(terminal.fileno()).columns or sys.maxsize
    except (OSError, ValueError):
        return sys.maxsize
