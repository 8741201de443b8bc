"""Terms of lengths (measured, or computed from others), and records of the tables made for them."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING

from modellint.flow.domain import Length, SymbolicInput
from modellint.graph.immutable import dataclass, replace
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow.domain import Atom, Atoms, Site
    from modellint.graph.python import Function


class LengthKind(Enum):
    """The operation that gives a length: measuring or arithmetic."""

    COUNT = "count"  # how many: a dimension, `len`
    KEPT = "kept"  # how many were kept from earlier calls
    LARGEST = "largest"  # the largest position, which is one less than a length that covers it
    LAST = "last"  # the last position
    SUM = "+"
    DIFFERENCE = "-"
    MAXIMUM = "max"
    MINIMUM = "min"
    QUOTIENT = "//"
    OTHER = "other"

    @property
    def measured(self) -> LengthKind | None:
        """COUNT where the operation counts something, LARGEST where it takes a position; None for arithmetic."""
        if self in (LengthKind.COUNT, LengthKind.KEPT):
            return LengthKind.COUNT
        return LengthKind.LARGEST if self in (LengthKind.LARGEST, LengthKind.LAST) else None


@dataclass(frozen=True, eq=False, slots=True)
class Term(Length):
    """A length, measured or computed at `origin`; `operands` are the measured value, or the numbers.

    `place` tells which of several dimensions it is; `sides` are the terms of the others. Terms are compared by
    identity: `lengths` makes one for equal operands, since comparing these takes too long.
    """

    origin: Site
    kind: LengthKind = LengthKind.COUNT
    operands: tuple[Atoms, ...] = ()
    place: Hashable = None
    sides: dict[Hashable, Term] = field(default_factory=dict, repr=False)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def along(self, place: Hashable) -> Length:
        if place not in self.sides:
            self.sides[place] = replace(self, place=place, sides=self.sides)
        return self.sides[place]

    @property
    def text(self) -> str:
        """The source text of the length."""
        written = self.origin.module.text_of(self.origin.value)
        is_shape = self.origin.value.op is Op.ATTR and self.place is not None
        return f"{written}[{self.place}]" if is_shape else written

    @property
    def is_sum(self) -> bool:
        return self.kind is LengthKind.SUM or self.kind is LengthKind.DIFFERENCE

    @property
    def is_extreme(self) -> bool:
        return self.kind is LengthKind.MAXIMUM or self.kind is LengthKind.MINIMUM

    def parts(self) -> Iterator[Term]:
        """The term and, transitively, the terms that it is a sum or extreme of, outermost first."""
        pending, seen = [self], {self}
        for term in pending:
            yield term
            for atom in term.numbers():
                if isinstance(atom, Term) and atom not in seen:
                    seen.add(atom)
                    pending.append(atom)

    def numbers(self) -> Iterator[Atom]:
        """The operands of a sum, difference, maximum or minimum; none for other kinds."""
        return (atom for atoms in self.operands for atom in atoms) if self.is_sum or self.is_extreme else iter(())


def terms_in(atoms: Atoms) -> Iterator[Term]:
    """The terms that a value may be, each with its parts."""
    return (part for atom in atoms if isinstance(atom, Term) for part in atom.parts())


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments of a call: the one that is the `length` of a table, and the root's parameters among them."""

    length: Site | None
    given: frozenset[str]


@dataclass(frozen=True, eq=False, slots=True)
class SizedTable:
    """A table of sines and cosines that is as long as `length`, made or cut at `use`.

    An existing table is cut to the length (`is_cut`), or a new one is made. `passed` are the calls that lead there,
    outermost first, with the arguments that they pass on. `exceeding` are the atoms that conditions on the way show to
    be larger than others.
    """

    length: Term
    use: Site
    passed: dict[Site, Passed]
    exceeding: frozenset[Atom]
    is_cut: bool = False

    @property
    def calls(self) -> tuple[Site, ...]:
        return tuple(self.passed)

    def call(self, picked: PickedRows | None = None) -> Site | None:
        """The call through which the table comes to the function that picks its rows; None if that one makes it."""
        beside = () if picked is None else picked.calls
        return next((call for at, call in enumerate(self.calls) if call not in beside[at : at + 1]), None)


@dataclass(frozen=True, eq=False, slots=True)
class PickedRows:
    """A look-up at `use` of rows of a table of one of `lengths`, by the `ids` of the subscript `index`.

    `calls` lead there, outermost first.
    """

    lengths: tuple[Length, ...]
    ids: Atoms
    index: Site
    use: Site
    calls: tuple[Site, ...]

    @property
    def parameter(self) -> str | None:
        """The root's parameter whose argument the ids are; None if there is none, or several."""
        given = {atom.parameter for atom in self.ids if isinstance(atom, SymbolicInput)}
        return given.pop() if len(given) == 1 else None

    @property
    def name(self) -> str:
        """The source text of the ids."""
        return self.parameter or self.index.module.text_of(self.index.value)


@dataclass(eq=False, slots=True)
class FunctionTables:
    """The tables of one function, run with unknown arguments.

    `sized` and `picked` are the tables made or cut, and the look-ups in them. `applied` are the lengths of tables that
    are combined as a whole, `too_short` those of tables that meet tensors with state of earlier calls. `kept` are
    parameters for state of earlier calls that is joined to new values, `is_kept` is True if there is such state at all;
    `compared` are parameters that are compared.
    """

    function: Function
    sized: dict[Hashable, SizedTable] = field(default_factory=dict)
    picked: dict[Hashable, PickedRows] = field(default_factory=dict)
    applied: set[Length] = field(default_factory=set)
    too_short: set[tuple[Length, ...]] = field(default_factory=set)
    kept: dict[str, None] = field(default_factory=dict)
    is_kept: bool = False
    compared: set[str] = field(default_factory=set)

    def picks(self, table: SizedTable) -> list[PickedRows]:
        """The look-ups of rows of a table."""
        return [picked for picked in self.picked.values() if table.length in picked.lengths]

    def exceeding(self, table: SizedTable) -> frozenset[Atom]:
        """The `exceeding` atoms of all tables that are made, or cut, to the same length."""
        alike = (t for t in self.sized.values() if t.length == table.length and t.is_cut is table.is_cut)
        return frozenset(atom for other in alike for atom in other.exceeding)

    def is_fitting(self, table: SizedTable) -> bool:
        """True if a table is only combined as a whole with tensors, which must have its length."""
        return table.length in self.applied and not self.picks(table)
