"""Frozen dataclasses that stand in many sets, and in each other: what their hash is, is found out once."""

from __future__ import annotations

from typing import TypeVar


class HashedOnce:
    """The base of such a dataclass, with the place where its hash is kept."""

    __slots__ = ("_hash",)


Hashed = TypeVar("Hashed", bound=type[HashedOnce])


def hashed_once(cls: Hashed) -> Hashed:
    """Compute the hash of each instance of a frozen dataclass only when it is first asked for."""
    computed = cls.__hash__

    def hash_once(self: HashedOnce) -> int:
        try:
            return self._hash  # type: ignore[attr-defined, no-any-return]
        except AttributeError:
            found = computed(self)
            object.__setattr__(self, "_hash", found)
            return found

    cls.__hash__ = hash_once  # type: ignore[method-assign, assignment]
    return cls
