"""Dataclasses that nobody changes, as type checkers see to it: made and copied at the price of plain ones.

`dataclass(frozen=True)` sets each field by a call, and `dataclasses.replace` reads all of them by name, which were a
twentieth of a run. At run time these are dataclasses that can be changed, but hash like frozen ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    import dataclasses
    from functools import cache

    T = TypeVar("T")

    def dataclass(*, frozen: bool = False, eq: bool = True, slots: bool = False) -> Any:
        """A dataclass. A frozen one hashes by its fields, unless it says how."""

        def made(cls: type) -> type:
            hashes = frozen and eq and "__hash__" not in cls.__dict__
            return dataclasses.dataclass(cls, eq=eq, slots=slots, unsafe_hash=hashes)

        return made

    def replace(instance: T, /, **changes: Any) -> T:
        """A copy of a dataclass without `__post_init__`, with some fields changed."""
        cls = type(instance)
        copy = object.__new__(cls)
        for name in _fields(cls):
            setattr(copy, name, changes[name] if name in changes else getattr(instance, name))
        return copy

    @cache
    def _fields(cls: type) -> tuple[str, ...]:
        return tuple(field.name for field in dataclasses.fields(cls))


__all__ = ["dataclass", "replace"]
