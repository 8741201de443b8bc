"""Ends a theory of a rule pack that takes too long, in whatever thread it is at work.

Another thread looks from time to time where the one that checks a file is, and throws an exception into it: where that
is in the theory's code, or in code of ours that the theory calls and that gets no further. What waits for something
without using the processor, calls that never come back from C, and code that catches every exception are not ended by
that.
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

#: Seconds from one look to the next, and of how many of them at most a theory is taken to be the cause.
_TICK, _MOST = 0.05, 0.2
_OWN = "modellint."


@contextmanager
def ended_in_time() -> Iterator[None]:
    """Let no theory go on for ever in this thread. Raises TheoryError."""
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
    """End the watch, and take what it has thrown at the last moment.

    What is on its way still must arrive: CPython goes on looking for an exception that is only taken back, before each
    call, and a profiler's calls come no further then.
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
    """The theory that a thread asks, and whether it is in the theory's own code, rather than in ours that it calls."""
    frame, is_own = sys._current_frames().get(thread), True
    while frame is not None:
        if frame.f_code is GuardedTheory.tried.__code__:
            guard = frame.f_locals["self"]
            return (guard, is_own) if isinstance(guard, GuardedTheory) else (None, False)
        name = str(frame.f_globals.get("__name__"))
        is_own = is_own and (name == GuardedTheory.__module__ or not name.startswith(_OWN))
        frame = frame.f_back
    return None, False
