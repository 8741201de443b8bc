"""Methods as the construction of objects sees them, whether read from source or from shipped facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modellint.graph.definitions import Definition
    from modellint.graph.value import Flow, Parameter, Value


class Scope(Protocol):
    """The namespace that resolves a method's global names."""

    def definition(self, value: Value) -> Definition | None:
        """The definition that a global name, or a chain of attributes on one, resolves to; None if unknown."""
        ...

    def constant(self, definition: Definition) -> tuple[Value, Scope] | None:
        """The value of a module-level assignment and the scope that its own names belong to."""
        ...


class Method(Protocol):
    """A function or method: its parameters, the receiver among them, its body and its names."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> tuple[Parameter, ...]: ...
    @property
    def plain(self) -> frozenset[str]:
        """Parameters that are documented or annotated to be numbers, strings and the like."""
        ...

    @property
    def flow(self) -> Flow: ...
    @property
    def scope(self) -> Scope: ...
    @property
    def has_receiver(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Conduct:
    """How the methods that one class defines itself use and move attributes of the object."""

    #: Attributes that methods other than the constructor read or call.
    used: frozenset[str] = frozenset()
    #: Attributes whose content is moved (`self.lm.to(device)`), and constructor parameters moved directly.
    moved: frozenset[str] = frozenset()
    moved_parameters: frozenset[str] = frozenset()
    #: Attributes that are replaced by themselves on another device (`self.x = self.x.to(y.device)`); `*` for all.
    carried: frozenset[str] = frozenset()
    #: Methods that change the state that the class adds to a checkpoint; none if it adds no state.
    changing: frozenset[str] = frozenset()


class ClassFacts(Protocol):
    """Facts about one class without its bases, from its source or from shipped facts."""

    @property
    def name(self) -> str: ...
    @property
    def bases(self) -> Iterable[Definition | None]: ...
    @property
    def conduct(self) -> Conduct: ...
    @property
    def attributes(self) -> Mapping[str, Value]:
        """Class-level assignments."""
        ...

    @property
    def fields(self) -> tuple[Parameter, ...] | None:
        """The constructor's parameters of a dataclass, None for any other class."""
        ...

    @property
    def scope(self) -> Scope: ...
    def has_method(self, name: str) -> bool: ...
    def method(self, name: str) -> Method | None: ...
