"""Limits of a process that need no filter: it dies with its parent, has no rights of root, and bounded resources."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal

from .libc import capset, failure, prctl

_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 24, 36, 38, 47
_CLEAR_ALL = 4
_CAPABILITY_VERSION = 0x20080522
#: Bytes that one file may grow to, and how many may be open.
_FILE_SIZE, _OPEN_FILES = 1 << 30, 1024
#: Seconds of processor time beyond what the limit of wall time allows for.
_SLACK = 10


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def die_with(parent: int) -> None:
    """Be killed when the thread ends that started this process, or leave at once if its process is gone already."""
    if prctl(_PR_SET_PDEATHSIG, signal.SIGKILL):
        raise failure("PR_SET_PDEATHSIG")
    if os.getppid() != parent:
        os._exit(1)


def go_first() -> None:
    """Be the first to be killed when memory is short."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as stream:
        stream.write("1000")


def drop_capabilities() -> None:
    """Give up what root may do, also for programs that are started later."""
    for capability in range(64):
        if prctl(_PR_CAPBSET_DROP, capability) and ctypes.get_errno() == errno.EINVAL:
            break
    prctl(_PR_CAP_AMBIENT, _CLEAR_ALL)
    if capset(_Header(_CAPABILITY_VERSION, 0), (_Capabilities * 2)()):
        raise failure("capset")


def adopt_orphans() -> None:
    """Become the parent of processes that were started by processes started here, once these have ended."""
    if prctl(_PR_SET_CHILD_SUBREAPER, 1):
        raise failure("PR_SET_CHILD_SUBREAPER")


def forbid_new_rights() -> None:
    """Let no program that is started have more rights than this process."""
    if prctl(_PR_SET_NO_NEW_PRIVS, 1):
        raise failure("PR_SET_NO_NEW_PRIVS")


def limit(memory: int, address_space: int, seconds: float) -> None:
    """Bound what this process may take: bytes of data and address space, and seconds of each processor (0: any)."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, _FILE_SIZE)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _lower(resource.RLIMIT_DATA, memory)
    if seconds:
        _lower(resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + _SLACK)
    if address_space:
        _lower(resource.RLIMIT_AS, address_space)
    if hasattr(resource, "RLIMIT_MEMLOCK"):
        _lower(resource.RLIMIT_MEMLOCK, 0)


def _lower(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))
