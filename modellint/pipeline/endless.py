"""Ends a theory of a rule pack that takes too long.

A watching thread samples the stack of the thread that checks a file. If that has spent too long in the theory's code,
or in our code that the theory calls and that makes no progress, it raises an exception there. This can't end code that
waits without using the processor, calls that never return from C, and code that catches every exception.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager
from threading import Event, Thread, get_ident
from time import process_time
from typing import TYPE_CHECKING

from modellint.flow import pack_theories
from modellint.flow.pack_theories import EndlessError, GuardedTheory, TheoryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.pack_theories import PackTheory

#: Seconds between two samples, and the most seconds of one interval that are charged to a theory.
_TICK, _MOST = 0.05, 0.2
_OWN = "modellint."


@contextmanager
def ended_in_time() -> Iterator[None]:
    """Context in which a theory that runs too long in this thread raises TheoryError."""
    thread, done = get_ident(), Event()
    late: list[PackTheory] = []
    watch = Thread(target=_watch, args=(thread, done, late), name="theories", daemon=True)
    watch.start()
    try:
        yield
    except EndlessError as error:  # which has come to the end after all before it was told
        raise TheoryError(late[-1], pack_theories.too_late()) from error
    finally:
        _finish(watch, done)


def _finish(watch: Thread, done: Event) -> None:
    """End the watching thread, and swallow an exception that it raised at the last moment.

    A pending exception must be delivered rather than cancelled: CPython would go on looking for it before each call,
    which stalls the calls of a profiler.
    """
    while True:
        try:
            done.set()
            watch.join()
        except EndlessError:
            continue
        return


def _watch(thread: int, done: Event, late: list[PackTheory]) -> None:
    spent: dict[PackTheory, float] = {}
    before, last = process_time(), None
    while not done.wait(_TICK):
        now = process_time()
        guard, is_own = _at_work(thread)
        state = None if guard is None else (guard, guard.steps)
        if guard is not None and (is_own or state == last):
            spent[guard.brought] = spent.get(guard.brought, 0.0) + min(now - before, _MOST)
            if spent[guard.brought] > pack_theories.SECONDS:
                late.append(guard.brought)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(EndlessError))
        before, last = now, state


def _at_work(thread: int) -> tuple[GuardedTheory | None, bool]:
    """The theory that a thread is running, and True if the thread is in the theory's own code, not in ours."""
    frame, is_own = sys._current_frames().get(thread), True
    while frame is not None:
        if frame.f_code is GuardedTheory.call_guarded.__code__:
            guard = frame.f_locals["self"]
            return (guard, is_own) if isinstance(guard, GuardedTheory) else (None, False)
        name = str(frame.f_globals.get("__name__"))
        is_own = is_own and (name == GuardedTheory.__module__ or not name.startswith(_OWN))
        frame = frame.f_back
    return None, False
