"""What a program runs in: values that no file of it makes, and what is known of how they behave.

A framework hands a program objects and calls its methods. An environment says what they are; the interpreter asks it
before it looks for itself, and `None` leaves the answer to the interpreter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.graph.value import Value


class Foreign:
    """A value that an environment brings."""

    __slots__ = ()

    def truth(self) -> bool | None:
        """Whether it counts as true."""
        return None

    def is_none(self) -> bool | None:
        return False

    def has(self, key: object) -> bool | None:
        """Whether `key in …` holds."""
        return None

    def compared(self, operator: str, other: Atom) -> bool | None:
        """The outcome of a comparison with something else."""
        return None

    def is_of(self, kind: Atom) -> bool | None:
        """Whether it is an instance of a class."""
        return None


@dataclass(frozen=True, slots=True)
class Sometimes:
    """A condition that comes out either way in the course of a run, each for certain."""

    test: Hashable


class Environment:
    """An environment that knows nothing."""

    def named(self, value: Value, frame: Frame) -> Atoms | None:
        """What a global name, or an attribute of one, stands for."""
        return None

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        """`atom.name`."""
        return None

    def part(self, atom: Atom, index: Atoms, frame: Frame, value: Value) -> Atoms | None:
        """`atom[index]`."""
        return None

    def element(self, atom: Atom) -> Atoms | None:
        """One element of what a value iterates over."""
        return None

    def binary(self, operator: str, left: Atoms, right: Atoms) -> Atoms | None:
        """`left operator right`."""
        return None

    def store(
        self, owner: Atom, key: Atoms, atoms: Atoms, frame: Frame, target: Value, *, is_sure: bool = True
    ) -> None:
        """`owner.key = …`, or `owner[key] = …`; `is_sure`: of this owner, and not of one of several."""

    def call(self, value: Value, frame: Frame) -> Atoms | None:
        """What a call gives, whatever its callee turns out to be."""
        return None

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`atom.name(…)`."""
        return None

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`function(…)`."""
        return None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """What a function gives that cannot be read."""
        return None

    def hand(self, arguments: Arguments, value: Value) -> None:
        """Somebody who cannot be read gets something."""

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        """What a function gives that can be read; `run` runs it, None if that is not worth it."""
        return run()

    def is_sometimes(self, test: Value, frame: Frame) -> bool:
        """Whether an open condition comes out either way in the course of a run."""
        return False
