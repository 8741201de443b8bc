"""The definitions that a dotted name can resolve to: readable code, an external name, or a name that is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value

#: Bases that give a class no attributes, methods or constructor arguments.
BARE_BASES = frozenset(
    ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol")
)


@dataclass(frozen=True, slots=True)
class DefinedClass:
    """A class whose source is readable."""

    cls: Class


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """A function or method whose source is readable."""

    function: Function


@dataclass(frozen=True, slots=True)
class DefinedConstant:
    """An assignment at module level, or at class level (`name` is then `Class.attribute`)."""

    module: ModuleFacts
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class DefinedModule:
    """A module whose source is readable."""

    module: ModuleFacts


@dataclass(frozen=True, slots=True)
class External:
    """A definition whose source isn't readable, by the dotted name that its documentation uses."""

    name: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A `name` that the module `owner` lacks, with the names `available` there.

    Without `is_sure`, Python may look elsewhere, or find more parts of the module there.
    """

    owner: str
    name: str
    available: frozenset[str]
    is_sure: bool


Definition = DefinedClass | DefinedFunction | DefinedConstant | DefinedModule | External
