"""seccomp: system calls that a run of user code has no use for fail from now on, whoever makes them.

This is for what Landlock does not know: other processes, sockets, signals, and what belongs to a file besides its
content. A list of what is refused: a call that is not on it passes. The filter is a program of classic BPF
(https://docs.kernel.org/userspace-api/seccomp_filter.html); it holds for all threads to come, and survives `exec`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .libc import failure, prctl
from .syscalls import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
#: AUDIT_ARCH_* of <linux/audit.h>, and the column of `syscalls.CALLS`, by the machine that `uname` names.
_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
#: Calls from here on are those of the x32 interface, which has numbers of its own.
_X32 = 0x40000000

# Instructions of classic BPF.
_LOAD, _AND, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
# Where things are in `struct seccomp_data`, of which arguments are the last six words.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

_WHOLE = 0xFFFFFFFF
_CLONE_THREAD = 0x00010000
_AF_UNIX, _SOCK_STREAM, _SOCKET_TYPES = 1, 1, 0xF
_SET_OWNER = (8, 10, 15, 1024)  # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE
_DEATH_SIGNAL, _DUMPABLE, _MEMORY_MAP, _PTRACER = 1, 4, 35, 0x59616D61
#: FS_IOC_SETFLAGS (both sizes), FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP.
_IOCTLS = (0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x5412, 0x541C, 0x8901, 0x8902)


@dataclass(frozen=True)
class Condition:
    """A test of an argument of a system call: its lower half (`is_upper_half`: its upper), masked, is in `values`."""

    argument: int
    values: tuple[int, ...]
    mask: int = _WHOLE
    is_upper_half: bool = False


@dataclass(frozen=True)
class Rule:
    """Calls that fail with `error`, which is 0 for those that seem to succeed and do nothing.

    Calls for which all conditions of `unless` hold pass; with `only`, all others do.
    """

    error: int
    calls: str
    unless: tuple[Condition, ...] = ()
    only: tuple[Condition, ...] = ()


def rules(pid: int | None, *, landlock: int) -> list[Rule]:
    """The system calls to refuse beside those that `landlock` (the version of its interface, or 0) refuses.

    The process `pid` starts no other and touches none but itself. Without a `pid` that is left to the filters that
    processes add for themselves: a filter is never taken back, and forked processes have it, too.
    """
    found = [] if pid is None else _alone(pid)
    return [*found, *_everywhere(), *(() if landlock >= 3 else _truncating())]


def _alone(pid: int) -> list[Rule]:
    itself = (0, pid)
    return [
        Rule(errno.EPERM, "fork vfork"),
        Rule(errno.EPERM, "clone", unless=(Condition(0, (_CLONE_THREAD,), _CLONE_THREAD),)),
        Rule(errno.EPERM, "kill tgkill", unless=(Condition(0, (pid,)),)),
        Rule(errno.EPERM, "prlimit64 sched_setscheduler sched_setparam sched_setattr", unless=(Condition(0, itself),)),
        Rule(errno.EPERM, "sched_setaffinity", unless=(Condition(0, itself),)),
        Rule(errno.EPERM, "setpriority", unless=(Condition(0, (0,)), Condition(1, itself))),
        Rule(errno.EPERM, "ioprio_set", unless=(Condition(0, (1,)), Condition(1, itself))),
        Rule(errno.EPERM, "migrate_pages move_pages", unless=(Condition(0, itself),)),
        Rule(errno.EPERM, "prctl", only=(Condition(0, (_DEATH_SIGNAL, _DUMPABLE, _MEMORY_MAP, _PTRACER)),)),
    ]


def _everywhere() -> list[Rule]:
    return [
        # Processes.
        Rule(errno.EPERM, "setsid setpgid"),
        Rule(errno.ENOSYS, "clone3"),  # the C library then takes `clone`, whose flags can be seen
        Rule(errno.EPERM, "tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_open pidfd_send_signal pidfd_getfd"),
        Rule(errno.EPERM, "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp"),
        # The network, and other ways to reach processes.
        Rule(errno.EACCES, "socket connect bind listen accept accept4"),
        Rule(
            errno.EACCES,
            "socketpair",  # `asyncio` needs those that are connected to each other and to nothing else
            unless=(Condition(0, (_AF_UNIX,)), Condition(1, (_SOCK_STREAM,), _SOCKET_TYPES)),
        ),
        Rule(errno.EACCES, "sendto", unless=(Condition(4, (0,)), Condition(4, (0,), is_upper_half=True))),
        Rule(errno.EPERM, "shmget shmat shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl"),
        Rule(errno.EPERM, "mq_open mq_unlink add_key request_key keyctl memfd_create memfd_secret"),
        Rule(errno.EPERM, "fcntl", only=(Condition(1, _SET_OWNER),)),
        # Calls that bypass filters, or undo them.
        Rule(errno.ENOSYS, "io_uring_setup io_uring_enter io_uring_register"),
        Rule(errno.EPERM, "mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig fsmount"),
        Rule(errno.EPERM, "fspick mount_setattr open_tree_attr bpf perf_event_open open_by_handle_at userfaultfd"),
        # Metadata of files. Copies that want to keep times and modes do not notice.
        Rule(0, "chmod fchmod fchmodat fchmodat2 utime utimes futimesat utimensat"),
        Rule(errno.EPERM, "chown lchown fchown fchownat mknod mknodat fanotify_init file_setattr"),
        Rule(
            errno.EPERM, "setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat"
        ),
        Rule(errno.EPERM, "ioctl", only=(Condition(1, _IOCTLS),)),
        # The machine.
        Rule(errno.EPERM, "swapon swapoff reboot kexec_load kexec_file_load init_module finit_module delete_module"),
        Rule(errno.EPERM, "acct quotactl quotactl_fd settimeofday clock_settime clock_adjtime adjtimex"),
        Rule(errno.EPERM, "sethostname setdomainname iopl ioperm syslog vhangup"),
    ]


def _truncating() -> Iterator[Rule]:
    """Older kernels let files be emptied that may not be written to."""
    reading, emptying = os.O_RDONLY, os.O_RDONLY | os.O_TRUNC
    mask = os.O_ACCMODE | os.O_TRUNC
    assert reading == 0
    yield Rule(errno.EACCES, "truncate")
    yield Rule(errno.ENOSYS, "openat2")
    yield Rule(errno.EACCES, "open", only=(Condition(1, (emptying,), mask),))
    yield Rule(errno.EACCES, "openat", only=(Condition(2, (emptying,), mask),))


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


#: An instruction: its code, how many to skip if it holds and if not, and its number.
Instruction = tuple[int, int, int, int]


def program(wanted: Sequence[Rule], machine: str) -> list[Instruction]:
    """The filter for an architecture. Raises KeyError for one whose numbers of calls are not known here."""
    architecture, column = _ARCHITECTURES[machine]
    code: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        code += [(_IF_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
    for rule in wanted:
        for name in rule.calls.split():
            number = CALLS[name][column]
            if number is not None:
                block = _block(rule)
                code += [(_IF_EQUAL, 0, len(block), number), *block]
    return [*code, (_RETURN, 0, 0, _ALLOW)]


def _block(rule: Rule) -> list[Instruction]:
    """The instructions for a call of a rule; they always end in a return."""
    refuse, allow = (_RETURN, 0, 0, _ERRNO | rule.error), (_RETURN, 0, 0, _ALLOW)
    if rule.only:
        return [*_tests(rule.only), refuse, allow]
    return [*_tests(rule.unless), allow, refuse] if rule.unless else [refuse]


def _tests(conditions: Sequence[Condition]) -> list[Instruction]:
    """Instructions that go on behind themselves if all conditions hold, and skip one instruction if not."""
    code: list[Instruction] = []
    for condition in reversed(conditions):
        offset = _ARGUMENTS + 8 * condition.argument + 4 * condition.is_upper_half
        tests: list[Instruction] = [(_LOAD, 0, 0, offset)]
        if condition.mask != _WHOLE:
            tests.append((_AND, 0, 0, condition.mask))
        last = len(condition.values) - 1
        for at, value in enumerate(condition.values):
            tests.append((_IF_EQUAL, last - at, 0 if at < last else len(code) + 1, value & _WHOLE))
        code = tests + code
    return code


def restrict(pid: int | None, *, landlock: int) -> None:
    """Refuse `rules` to this thread and all that it starts.

    Needs `no_new_privs`. Raises OSError where the system, or modellint for this architecture, has no such filter.
    """
    machine = platform.machine()
    if machine not in _ARCHITECTURES or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise OSError(errno.ENOSYS, f"the numbers of system calls on {machine} are not known")
    code = program(rules(pid, landlock=landlock), machine)
    instructions = (_Instruction * len(code))(*(_Instruction(*line) for line in code))
    filter_ = _Program(len(code), instructions)
    if prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(filter_)):
        raise failure("seccomp")
