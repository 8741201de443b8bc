"""What a dotted name may stand for: a definition that can be read, something outside of that, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value


@dataclass(frozen=True, slots=True)
class DefinedClass:
    """A class statement that we can read."""

    cls: Class


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """A function or method that we can read."""

    function: Function


@dataclass(frozen=True, slots=True)
class DefinedConstant:
    """An assignment at module level, or at class level (`name` is then `Class.attribute`)."""

    module: ModuleFacts
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class DefinedModule:
    """A module that we can read."""

    module: ModuleFacts


@dataclass(frozen=True, slots=True)
class External:
    """Something outside of what we can read, by the dotted name that its own documentation uses."""

    name: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A module (`owner`) that has no `name`, and the names that it has.

    Not `is_sure`: Python may look elsewhere, or find more parts of it there.
    """

    owner: str
    name: str
    available: frozenset[str]
    is_sure: bool


Definition = DefinedClass | DefinedFunction | DefinedConstant | DefinedModule | External
