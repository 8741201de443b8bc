"""The process that a command runs in: its standard streams, the signals that end it, and its end.

For the command line alone: who imports modellint keeps the streams and the handlers that they have.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn, TextIO

    from typing_extensions import Buffer

#: The exit codes after Ctrl-C, and after SIGTERM (as a shell has it).
INTERRUPTED, TERMINATED = 2, 143
_owner = 0
#: The exit code of a process that is about to end.
_ending: int | None = None
#: Whether one command is all that the process does, and what it keeps until then.
_is_ending = False
_kept: list[object] = []


class _Output(io.FileIO):
    """What is below stdout or stderr, which need not be read to its end, and knows why it cannot be written.

    Readers that have seen enough (`| head`) get no more, and the exit code stays that of the work. So does what is told
    on a stderr where nobody can hear it.
    """

    is_unread = False
    error: OSError | None = None

    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            self.is_unread = True
        except OSError as error:
            self.error = error
            if self.fileno() != 2:
                raise
        return memoryview(data).nbytes


def begin() -> None:
    """Take over the signals and the standard streams."""
    global _owner
    _owner = os.getpid()
    signal.signal(signal.SIGINT, _on_signal)
    signal.signal(signal.SIGTERM, _on_signal)
    sys.unraisablehook = _on_lost
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            _fill(number, name)
    if sys.platform != "win32":  # where a console has streams of a kind of its own
        sys.stdout, sys.stderr = _renewed(sys.stdout), _renewed(sys.stderr)


def expect_end() -> None:
    """If the process is our own, free nothing from now on that is freed when it ends: that takes a fifth of a run."""
    global _is_ending
    if _owner == os.getpid():
        _is_ending = True
        gc.disable()


def keep(value: object) -> None:
    """Keep something until the process ends, if that is near."""
    if _is_ending:
        _kept.append(value)


def _fill(number: int, name: str) -> None:
    """Open a standard stream that is closed, whose number the next file that is opened would get otherwise.

    It is opened for the other direction, so that using it stays an error; only a stderr is as good as /dev/null.
    """
    opened = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_WRONLY)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)
    setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))


def _renewed(stream: TextIO) -> TextIO:
    """A stream like this one, with `_Output` below."""
    raw = _Output(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.isatty() or raw.fileno() == 2,
    )


def _raw(stream: TextIO) -> _Output | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Output) else None


def is_ending() -> bool:
    """Whether a signal has told the process to end."""
    return _ending is not None


def is_unread() -> bool:
    """Whether the reader of stdout has gone away."""
    raw = _raw(sys.stdout)
    return raw is not None and raw.is_unread


def unwritable() -> OSError | None:
    """Why stdout could not be written, if so."""
    raw = _raw(sys.stdout)
    return None if raw is None else raw.error


def _on_signal(number: int, frame: FrameType | None) -> None:
    """End in good order, or at once if that is under way."""
    global _ending
    code = INTERRUPTED if number == signal.SIGINT else TERMINATED
    if os.getpid() != _owner:  # just forked, with no handlers of its own yet; Ctrl-C is for its parent to deal with
        if number != signal.SIGINT:
            os._exit(code)
    elif _ending is not None:
        os._exit(code)
    else:
        _ending = code
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(code)


def _on_lost(lost: sys.UnraisableHookArgs) -> None:
    """End at once if an interrupt came where no exception gets out, as in `__del__`; else say what was lost."""
    if _ending is None or not isinstance(lost.exc_value, (KeyboardInterrupt, SystemExit)):
        sys.__unraisablehook__(lost)
        return
    if _ending == INTERRUPTED:
        os.write(2, b"Interrupted\n")
    os._exit(_ending)


def leave(code: int) -> NoReturn:
    """End the process now, with this code or that of a signal: exit handlers run, and what is written goes out.

    What Python tears down beyond that takes a tenth of a short run, and waits for threads that nobody needs any more.
    """
    global _ending
    _ending = code if _ending is None else _ending
    with suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_ending)
