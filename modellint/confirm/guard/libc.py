"""System calls that Python has no function for."""

from __future__ import annotations

import ctypes
import os
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(number: int, *arguments: Any) -> int:
    """The result of a system call; -1 where it failed."""
    return int(_libc.syscall(ctypes.c_long(number), *(_word(argument) for argument in arguments)))


def prctl(option: int, *arguments: int) -> int:
    """The result of `prctl`; -1 where it failed."""
    words = [ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:4]]
    return int(_libc.prctl(ctypes.c_int(option), *words))


def capset(header: Any, data: Any) -> int:
    """The result of `capset`; -1 where it failed."""
    return int(_libc.capset(ctypes.byref(header), ctypes.byref(data)))


def failure(what: str) -> OSError:
    """Why the last call failed."""
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _word(argument: Any) -> Any:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument
