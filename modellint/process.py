"""The process of a command: its standard streams, the signals that end it, and its exit.

For the command line alone: a program that imports modellint keeps its own streams and handlers.
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
#: True if the process runs one command only, and the objects that it keeps alive until it exits.
_is_ending = False
_kept: list[object] = []


class _Output(io.FileIO):
    """The raw stream below stdout or stderr: swallows broken pipes, and remembers why a write failed.

    After a reader closes the pipe (`| head`), writes are dropped and the exit code stays that of the command. Errors of
    writing to stderr are dropped, too.
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
        sys.stdout, sys.stderr = _wrap_stream(sys.stdout), _wrap_stream(sys.stderr)


def expect_end() -> None:
    """If the process is our own, free no more memory until it exits (see `keep`): that takes a fifth of a run."""
    global _is_ending
    if _owner == os.getpid():
        _is_ending = True
        gc.disable()


def keep(value: object) -> None:
    """Keep an object alive until the process exits, after `expect_end`."""
    if _is_ending:
        _kept.append(value)


def _fill(number: int, name: str) -> None:
    """Open a closed standard stream as /dev/null, as the next file to be opened would get its number otherwise.

    stdin and stdout are opened for the other direction, so that using them stays an error.
    """
    opened = os.open(os.devnull, os.O_RDONLY if name == "stdout" else os.O_WRONLY)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)
    setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))


def _wrap_stream(stream: TextIO) -> TextIO:
    """A text stream like this one on top of an `_Output`."""
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
    """True if a signal has told the process to end."""
    return _ending is not None


def is_unread() -> bool:
    """True if the reader of stdout has closed the pipe."""
    raw = _raw(sys.stdout)
    return raw is not None and raw.is_unread


def unwritable() -> OSError | None:
    """The error of writing to stdout, if there was one."""
    raw = _raw(sys.stdout)
    return None if raw is None else raw.error


def _on_signal(number: int, frame: FrameType | None) -> None:
    """Signal handler: raise KeyboardInterrupt or SystemExit; exit at once on a second signal."""
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
    """Hook for unraisable exceptions: exit at once after an interrupt (as in `__del__`), else report as Python does."""
    if _ending is None or not isinstance(lost.exc_value, (KeyboardInterrupt, SystemExit)):
        sys.__unraisablehook__(lost)
        return
    if _ending == INTERRUPTED:
        os.write(2, b"Interrupted\n")
    os._exit(_ending)


def leave(code: int) -> NoReturn:
    """Exit the process now, with this code or that of a signal, after running exit handlers and flushing the streams.

    Python's further teardown takes a tenth of a short run, and waits for threads that are of no more use.
    """
    global _ending
    _ending = code if _ending is None else _ending
    with suppress(Exception):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(_ending)
