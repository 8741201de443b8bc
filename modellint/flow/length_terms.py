"""Lengths as terms of what they measure and what is added to them, and what is noted of the tables made for them."""

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
    """What a length is: measured, or calculated."""

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


@dataclass(frozen=True, eq=False, slots=True)
class Term(Length):
    """A length, measured or calculated at `origin`: of what it is measured, or of which numbers it is calculated.

    `place` tells which of several dimensions it is; `sides` are those of the others. There is one for what is the
    same: `lengths` sees to that, since comparing what each is made of takes too long.
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
        """Itself, and the lengths that it is the sum or the extreme of, outermost first."""
        pending, seen = [self], {self}
        for term in pending:
            yield term
            for atom in term.numbers():
                if isinstance(atom, Term) and atom not in seen:
                    seen.add(atom)
                    pending.append(atom)

    def numbers(self) -> Iterator[Atom]:
        """The operands of the sum or the maximum."""
        return (atom for atoms in self.operands for atom in atoms) if self.is_sum or self.is_extreme else iter(())


@dataclass(frozen=True, slots=True)
class Passed:
    """What a call passes on: as the length of a table, and of what the function is `given` that is asked about."""

    length: Site | None
    given: frozenset[str]


@dataclass(frozen=True, eq=False, slots=True)
class SizedTable:
    """A table of sines and cosines that is as long as `length`, made or cut at `use`.

    A table that is there is cut to the length, or (unless `is_cut`) one is made for it. `passed` are the calls that
    lead there, outermost first, with what they pass on. `exceeding` is what conditions on the way have shown to be
    larger than something.
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
        """The call that asks for the table, in the function where it meets what picks rows; None: it is made there."""
        beside = () if picked is None else picked.calls
        return next((call for at, call in enumerate(self.calls) if call not in beside[at : at + 1]), None)


@dataclass(frozen=True, eq=False, slots=True)
class PickedRows:
    """Rows of a table that is as long as one of `lengths` are picked by `ids`, which `index` gives, at `use`.

    `calls` lead there.
    """

    lengths: tuple[Length, ...]
    ids: Atoms
    index: Site
    use: Site
    calls: tuple[Site, ...]

    @property
    def parameter(self) -> str | None:
        """What the function is given that is asked about, if the ids are no more than that."""
        given = {atom.parameter for atom in self.ids if isinstance(atom, SymbolicInput)}
        return given.pop() if len(given) == 1 else None

    @property
    def name(self) -> str:
        """The source text of the ids."""
        return self.parameter or self.index.module.text_of(self.index.value)


@dataclass(eq=False, slots=True)
class FunctionTables:
    """What was found of one function that is run with anything.

    `applied` are the lengths of tables that are applied as a whole; `kept` is what the function was given from earlier
    calls, and joins to what it computes, `is_kept` whether it does so; `compared` is what it is given and compares.
    """

    function: Function
    sized: dict[Hashable, SizedTable] = field(default_factory=dict)
    picked: dict[Hashable, PickedRows] = field(default_factory=dict)
    applied: set[Length] = field(default_factory=set)
    kept: dict[str, None] = field(default_factory=dict)
    is_kept: bool = False
    compared: set[str] = field(default_factory=set)

    def picks(self, table: SizedTable) -> list[PickedRows]:
        """Where rows of a table are picked."""
        return [picked for picked in self.picked.values() if table.length in picked.lengths]

    def exceeding(self, table: SizedTable) -> frozenset[Atom]:
        """What conditions have shown to be larger than something, where tables of that length are made, or are cut."""
        alike = (t for t in self.sized.values() if t.length == table.length and t.is_cut is table.is_cut)
        return frozenset(atom for other in alike for atom in other.exceeding)

    def is_fitting(self, table: SizedTable) -> bool:
        """Whether a table is applied as a whole to what must be as long: nothing works with another length."""
        return table.length in self.applied and not self.picks(table)
