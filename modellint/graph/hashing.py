"""Frozen dataclasses that cache their hash, as they stand in many sets and in each other."""

from __future__ import annotations

from typing import TypeVar


class HashedOnce:
    """Base class of such a dataclass: adds the slot for the cached hash."""

    __slots__ = ("_hash",)


Hashed = TypeVar("Hashed", bound=type[HashedOnce])


def hashed_once(cls: Hashed) -> Hashed:
    """Class decorator: compute the hash of an instance on first use, and cache it."""
    compute = cls.__hash__

    def hash_once(self: HashedOnce) -> int:
        try:
            return self._hash  # type: ignore[attr-defined, no-any-return]
        except AttributeError:
            value = compute(self)
            object.__setattr__(self, "_hash", value)
            return value

    cls.__hash__ = hash_once  # type: ignore[method-assign, assignment]
    return cls
