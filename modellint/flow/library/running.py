"""The interface of a run that operations of Python use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path, Shell
    from modellint.flow.theory import Theories
    from modellint.graph.value import Value


class _Objects(Protocol):
    def element(self, atom: Atom, frame: Frame, value: Value) -> Atoms: ...
    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms: ...


class _Calls(Protocol):
    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms: ...
    def unknown(self, arguments: Arguments, value: Value) -> Atoms: ...


class Run(Protocol):
    """A run: `Interpreter`, which imports these operations itself."""

    asked: Theories
    counts: bool
    path: Path
    loops: int
    steps: int

    @property
    def objects(self) -> _Objects: ...
    @property
    def calls(self) -> _Calls: ...
    def evaluate(self, value: Value, frame: Frame) -> Atoms: ...
    def shell(self, kind: str, value: Value, frame: Frame, purpose: Hashable = "") -> Shell: ...
    def sequence(self, kind: str, values: Iterable[Atoms], value: Value, frame: Frame, purpose: str = "") -> Shell: ...


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A call of a function of a library, by its dotted name."""

    run: Run
    name: str
    arguments: Arguments
    frame: Frame
    value: Value

    @property
    def positional(self) -> tuple[Atoms, ...]:
        """The positional arguments."""
        return self.arguments.positional

    def allocate(self, kind: str, purpose: Hashable = "") -> Shell:
        """The container that the call makes."""
        return self.run.shell(kind, self.value, self.frame, purpose)

    def sequence(self, kind: str, values: Iterable[Atoms]) -> Atoms:
        """The container that the call makes, of these entries."""
        return (self.run.sequence(kind, values, self.value, self.frame),)
