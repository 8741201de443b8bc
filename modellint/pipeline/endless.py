"""Ends a theory of a rule pack that takes too long, in whatever thread it is at work.

Another thread looks from time to time where the one that checks a file is, and throws an exception into it. What waits
for something without using the processor, calls that never come back from C, and code that catches every exception
are not ended by that.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from threading import Event, Thread, get_ident
from time import process_time
from typing import TYPE_CHECKING

from modellint.flow import brought
from modellint.flow.brought import EndlessError, Guard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.brought import Brought

#: Seconds from one look to the next, and of how many of them at most a theory is taken to be the cause.
_TICK, _MOST = 0.05, 0.2
_OWN = "modellint."


@contextmanager
def ended_in_time() -> Iterator[None]:
    """Let no theory go on for ever in this thread."""
    thread, done = get_ident(), Event()
    watch = Thread(target=_watch, args=(thread, done), name="theories", daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join()
        _throw(thread, None)  # what is on its way still


def _watch(thread: int, done: Event) -> None:
    spent: dict[Brought, float] = {}
    before = process_time()
    while not done.wait(_TICK):
        now = process_time()
        theory = _at_work(thread)
        if theory is not None:
            spent[theory] = spent.get(theory, 0.0) + min(now - before, _MOST)
            if spent[theory] > brought.SECONDS:
                _throw(thread, EndlessError)
        before = now


def _at_work(thread: int) -> Brought | None:
    """The theory whose own code a thread is in, rather than code of ours that it has called."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_code is Guard.tried.__code__:
            guard = frame.f_locals["self"]
            return guard.brought if isinstance(guard, Guard) else None
        name = str(frame.f_globals.get("__name__"))
        if name.startswith(_OWN) and name != Guard.__module__:
            return None
        frame = frame.f_back
    return None


def _throw(thread: int, error: type[BaseException] | None) -> None:
    """Have an exception raised in a thread, or none that was to be."""
    told = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), told)
