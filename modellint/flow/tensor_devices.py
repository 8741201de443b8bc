"""Atoms for tensors by device: on the default device, on the device of the moved object, or on an unknown one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Plain, SymbolicInput
from modellint.flow.theory import Comparable
from modellint.graph.immutable import dataclass, replace

if TYPE_CHECKING:
    from modellint.flow.domain import Atom
    from modellint.flow.heap import Shell
    from modellint.flow.kept_devices import KeptDevice
    from modellint.graph.python import Function
    from modellint.graph.value import Value

#: Ranks are counted up to this one.
MAX_RANK = 8
#: The number of indexed dimensions after which a tensor may be a single number.
MANY = 2


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of one object: of the object under analysis, or of one that it holds."""

    owner: Shell
    name: str


@dataclass(frozen=True, slots=True)
class Fresh(Plain, Comparable):
    """A tensor that `maker` made on the default device, of `rank` dimensions or more.

    `kept` is the attribute that it was read from. `device_may_be_passed`: a caller may name another
    device. `is_late`: it was made after the object was moved, where nobody names a device. `is_placed`: the
    constructor put it on a device of its own choice. `is_learned`: it asks for gradients. `is_derived`: it is a buffer,
    or computed from a parameter or buffer, which gets another tensor when it is moved. `at`: where it was made late, or
    moved to, by the device that the object kept. `is_first`: a call of the object reads it under no condition, before
    it stores anything there.
    """

    maker: Value
    function: Function | None
    rank: int
    kept: Attribute | None = None
    device_may_be_passed: bool = False
    is_late: bool = False
    is_placed: bool = False
    is_learned: bool = False
    is_derived: bool = False
    at: KeptDevice | None = None
    is_first: bool = False

    def of_rank(self, rank: int) -> Fresh:
        return replace(self, rank=max(0, min(rank, MAX_RANK)))


@dataclass(frozen=True, slots=True)
class There(SymbolicInput):
    """A tensor, or an object with tensors, on the device that the object was moved to; `is_sure` if it is a tensor.

    `is_shown`: its uses show that it is a tensor, too. `brought`: the call that made it on the default device during
    the object's work, before it was moved there. `taken`: how many of its dimensions were indexed by a number; a full
    reduction counts as `MANY`.
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
    """A tensor of the attribute `kept`, or made late by `maker`, that was moved: its device is unknown or right."""

    kept: Attribute | None
    maker: Value | None = None


@dataclass(frozen=True, slots=True)
class TensorDevice(Plain, Comparable):
    """The device of a tensor: the one that the object was moved to (`is_there`), or the default one."""

    is_there: bool

    def compared(self, operator: str, other: Atom) -> bool | None:
        is_known = isinstance(other, TensorDevice) and operator in ("==", "!=")
        return (self == other) is (operator == "==") if is_known else None


@dataclass(frozen=True, slots=True)
class ElementType(Plain):
    """The type of a tensor's elements."""


@dataclass(eq=False, slots=True)
class Meeting:
    """A device mix of a tensor in the attribute `kept`: the operation `value` with the `other`, moved operand.

    `first_in`: the calls of the object in which the tensor is always there, by number.
    """

    kept: Attribute
    function: Function
    value: Value
    other: Value | None
    is_sure: bool
    first_in: set[int]


@dataclass(eq=False, slots=True)
class Encounter:
    """A device mix of a tensor `made` during the object's work: the operation with the `other`, moved operand.

    `calls` are the calls of the object in which it happens, by number.
    """

    made: Fresh
    function: Function
    value: Value
    other: Value | None
    calls: set[int]
