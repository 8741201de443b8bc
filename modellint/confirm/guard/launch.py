"""The first program in a guarded process: gives up rights, tells which, and becomes the program that is guarded.

Processes that are forked from a guarded one give up more in the same way, by `enter`.

Called as `launch(settings, command)`, where `settings` are those of `Launch` as JSON. What could be given up is told in
one line on the descriptor `channel`: `{"guard": [PART, …]}`. Everything is done while there is one thread, since
Landlock and seccomp hold for the thread that asks for them and for those that it starts.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: The parts of a full guard, without versions.
FULL = frozenset(("landlock", "seccomp"))
#: Exit statuses: the guard that is required cannot be had; the program cannot be started; a fork cannot do the work.
REFUSED, NOT_STARTED, UNFIT = 96, 97, 98


@dataclass(frozen=True)
class Launch:
    """How to guard: `mode` is "auto", "required" or "off" (nothing but limits); sizes are in bytes, `seconds` of
    processor time are for each processor (0: no limit).
    """

    scratch: str
    parent: int
    channel: int
    mode: str
    memory: int
    address_space: int
    seconds: float
    devices: tuple[str, ...] = (os.devnull,)
    #: True for a process that forks others, which call `enter` for themselves.
    is_forking: bool = False


def launch(settings: str, command: Sequence[str]) -> None:
    """Become `command`, guarded. Returns never."""
    how = Launch(**json.loads(settings))
    enter(how)
    os.set_inheritable(how.channel, True)
    try:
        os.execv(command[0], list(command))
    except OSError as error:
        _tell(how.channel, {"failed": f"{command[0]} cannot be run: {error.strerror}"})
        os._exit(NOT_STARTED)


def enter(how: Launch) -> None:
    """Give up rights and tell which, or end where not all can be given up that have to be."""
    parts = guard(how)
    _tell(how.channel, {"guard": parts})
    if how.mode == "required" and not is_full(parts):
        os._exit(REFUSED)


def is_full(parts: Sequence[str]) -> bool:
    """True if `parts` has both locks, Landlock and seccomp, so that the operating system enforces every limit."""
    return {part.partition(" ")[0] for part in parts} >= FULL


def guard(how: Launch) -> list[str]:
    """Give up every right that this system lets a process give up; gives the names of these parts of the guard."""
    parts: list[str] = []
    is_linux = sys.platform == "linux"
    if is_linux:
        _try(parts, "death signal", lambda: process.die_with(how.parent))
        _try([], "", process.go_first)
        if how.is_forking:
            _try([], "", process.adopt_orphans)
    _try(parts, "limits", lambda: process.limit(how.memory, how.address_space, how.seconds))
    if is_linux and how.mode != "off":
        _restrict(parts, how)
    return parts


def _restrict(parts: list[str], how: Launch) -> None:
    from . import landlock, seccomp

    if _threads() != 1:
        return  # the others would not be bound by it
    _try(parts, "no capabilities", process.drop_capabilities)
    if not _try(parts, "no new privileges", process.forbid_new_rights):
        return
    versions: list[int] = []
    if _try([], "", lambda: versions.append(landlock.restrict(how.scratch, how.devices))):
        parts.append(f"landlock {versions[0]}")
    known = versions[0] if versions else 0
    pid = None if how.is_forking else os.getpid()
    _try(parts, "seccomp", lambda: seccomp.restrict(pid, landlock=known))


def _try(parts: list[str], name: str, give_up: Callable[[], object]) -> bool:
    """Give up one right and note it in `parts`; False if the system does not let us."""
    try:
        give_up()
    except (OSError, ValueError, AttributeError):
        return False
    parts.append(name)
    return True


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def _tell(channel: int, message: dict[str, object]) -> None:
    os.write(channel, json.dumps(message).encode() + b"\n")
