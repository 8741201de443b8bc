"""Tensors by where they are: made on the default device, moved with an object, on a device that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Plain, SymbolicInput
from modellint.flow.theory import Comparable
from modellint.graph.immutable import dataclass, replace

if TYPE_CHECKING:
    from modellint.flow.domain import Atom
    from modellint.graph.python import Function
    from modellint.graph.value import Value

#: More dimensions than these make no difference.
MAX_RANK = 8
#: Of how many dimensions one place is taken where a single number may be left.
MANY = 2


@dataclass(frozen=True, slots=True)
class Fresh(Plain, Comparable):
    """A tensor that `maker` made on the default device, of `rank` dimensions or more.

    `kept` is the attribute of the object that it was read from. `device_may_be_passed`: a caller may name another
    device. `is_late`: it was made after the object was moved, where nobody names a device. `is_placed`: the
    constructor put it on a device of its own choice. `is_learned`: it asks for gradients.
    """

    maker: Value
    function: Function | None
    rank: int
    kept: str | None = None
    device_may_be_passed: bool = False
    is_late: bool = False
    is_placed: bool = False
    is_learned: bool = False

    def of_rank(self, rank: int) -> Fresh:
        return replace(self, rank=max(0, min(rank, MAX_RANK)))


@dataclass(frozen=True, slots=True)
class There(SymbolicInput):
    """A tensor, or something with tensors, on the device that the object was moved to; `is_sure` if it is a tensor.

    `is_shown`: what is done with it says so, too. `brought`: what made it on the default
    device while the object works, which moved it there. `taken`: of how many of its dimensions one place was taken;
    all that were reduced count as `MANY`.
    """

    is_sure: bool = True
    is_shown: bool = True
    brought: Value | None = None
    taken: int = 0

    @property
    def may_be_number(self) -> bool:
        return self.taken >= MANY

    @property
    def is_tensor(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Moved(Plain):
    """What an attribute keeps, or was made late by `maker`, on a device that is not known, or is the right one."""

    kept: str | None
    maker: Value | None = None


@dataclass(frozen=True, slots=True)
class TensorDevice(Plain, Comparable):
    """The device of a tensor: the one that the object was moved to, or the default one."""

    is_there: bool

    def compared(self, operator: str, other: Atom) -> bool | None:
        is_known = isinstance(other, TensorDevice) and operator in ("==", "!=")
        return (self == other) is (operator == "==") if is_known else None


@dataclass(frozen=True, slots=True)
class ElementType(Plain):
    """The type of a tensor's elements."""


@dataclass(eq=False, slots=True)
class Meeting:
    """Where a tensor that was left behind is used with one that is there: the operation, and the other operand."""

    kept: str
    function: Function
    value: Value
    other: Value | None
    is_sure: bool


@dataclass(eq=False, slots=True)
class Encounter:
    """Where a tensor that the object at work `made` is used with one that is there, the other operand."""

    made: Fresh
    function: Function
    value: Value
    other: Value | None
