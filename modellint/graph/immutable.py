"""Dataclasses that are immutable to type checkers only, so that making and copying them costs as little as plain ones.

`dataclass(frozen=True)` sets each field by a call, and `dataclasses.replace` reads all of them by name, which were a
twentieth of a run. At run time these are dataclasses that can be changed, but hash like frozen ones. Each method is
compiled when it is first called: compiling those of all classes was half of the start of a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    import dataclasses
    from functools import cache

    T = TypeVar("T")

    def dataclass(cls: type | None = None, *, frozen: bool = False, eq: bool = True, slots: bool = False) -> Any:
        """Like `dataclasses.dataclass`; a frozen class hashes by its fields, unless it defines `__hash__`."""

        def decorate(cls: type) -> type:
            names = ["__init__", "__repr__", *(["__eq__"] if eq else [])]
            lacking = [name for name in names if name not in cls.__dict__]
            if eq and "__hash__" not in cls.__dict__:
                lacking.append("__hash__")
            cls = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots)
            for name in lacking:
                if name == "__hash__" and not frozen:
                    cls.__hash__ = None
                else:
                    setattr(cls, name, _compiled_once(cls, name))
            return cls

        return decorate if cls is None else decorate(cls)

    def _compiled_once(cls: type, name: str) -> Any:
        """A placeholder method: its first call compiles the method, and replaces the placeholder by it."""

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            compiled = _compiled(cls, name)
            setattr(cls, name, compiled)
            return compiled(self, *args, **kwargs)

        method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
        return method

    def _compiled(cls: type, name: str) -> Any:
        """The method of this name of a plain dataclass with the same fields."""
        fields = dataclasses.fields(cls)
        body = {field.name: field for field in fields}
        body["__annotations__"] = {field.name: field.type for field in fields}
        if hasattr(cls, "__post_init__"):
            body["__post_init__"] = cls.__post_init__
        wanted = {flag: name == f"__{flag}__" for flag in ("init", "repr", "eq")}
        model = dataclasses.dataclass(type(cls.__name__, (), body), unsafe_hash=name == "__hash__", **wanted)
        return model.__dict__[name]

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
