"""Landlock: from now on this process changes files below one folder only, and opens no TCP connection.

Linux from 5.13 on; which rights there are to give up depends on the version of its interface, which the kernel tells
(https://docs.kernel.org/userspace-api/landlock.html). Reading stays allowed everywhere. What is open already is not
affected, nor are permissions, times and owners of files, which are the business of `seccomp.py`.
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

from .libc import failure, syscall

if TYPE_CHECKING:
    from collections.abc import Sequence

# The numbers of these calls are the same on all architectures.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = (1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
#: Rights that change something, by the version that knows them first.
_CHANGING = {
    1: _WRITE_FILE
    | _REMOVE_DIR
    | _REMOVE_FILE
    | _MAKE_CHAR
    | _MAKE_DIR
    | _MAKE_REG
    | _MAKE_SOCK
    | _MAKE_FIFO
    | _MAKE_BLOCK
    | _MAKE_SYM,
    2: _REFER,
    3: _TRUNCATE,
    5: _IOCTL_DEV,
}
_IN_SCRATCH = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM | _REFER | _TRUNCATE
_ON_DEVICE = _WRITE_FILE | _TRUNCATE | _IOCTL_DEV
#: Binding and connecting TCP sockets, from version 4 on.
_TCP = 0b11
#: Abstract Unix sockets and signals to processes outside, from version 6 on.
_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The version of the kernel's interface, or 0 where there is none."""
    return max(syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG), 0)


def restrict(scratch: str, devices: Sequence[str]) -> int:
    """Let this thread and what it starts write below `scratch` and to `devices` only; gives the version.

    Needs `no_new_privs`. Raises OSError where the system has no Landlock.
    """
    known = version()
    if not known:
        raise failure("Landlock")
    handled = sum(rights for since, rights in _CHANGING.items() if since <= known)
    ruleset = _Ruleset(handled, _TCP if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    rules = syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if rules < 0:
        raise failure("landlock_create_ruleset")
    try:
        _allow(rules, scratch, _IN_SCRATCH & handled)
        for device in filter(os.path.exists, devices):
            _allow(rules, device, _ON_DEVICE & handled)
        if syscall(_RESTRICT_SELF, rules, 0):
            raise failure("landlock_restrict_self")
    finally:
        os.close(rules)
    return known


def _allow(rules: int, path: str, access: int) -> None:
    parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _Beneath(access, parent)
        if syscall(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(rule), 0):
            raise failure(f"landlock_add_rule {path}")
    finally:
        os.close(parent)
