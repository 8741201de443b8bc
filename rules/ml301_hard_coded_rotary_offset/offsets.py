"""Whole numbers that are added to the lengths of position tables, and the quantities that these lengths measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import SymbolicInput, size_of
from modellint.flow.length_terms import LengthKind, Term
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Atoms
    from modellint.flow.length_terms import FunctionTables, PickedRows, SizedTable
    from modellint.graph.value import Value

#: The quantities that a length may measure, each as a count or as the largest position.
_MEASURED = {
    LengthKind.COUNT: LengthKind.COUNT,
    LengthKind.KEPT: LengthKind.COUNT,
    LengthKind.LARGEST: LengthKind.LARGEST,
    LengthKind.LAST: LengthKind.LARGEST,
}


@dataclass(frozen=True, eq=False, slots=True)
class LengthUse:
    """A part of a length, with its table and the places that pick rows of the table."""

    part: Term
    table: SizedTable
    picks: list[PickedRows]
    asked: FunctionTables


def uses(found: Iterable[FunctionTables]) -> dict[Value, list[LengthUse]]:
    """The parts of the lengths of tables, by the value that computes each; parts whose rows are picked come first."""
    parts: dict[Value, list[LengthUse]] = {}
    for asked in found:
        for table in asked.sized.values():
            picks = asked.picks(table)
            for part in table.length.parts():
                if part.origin.function is None:
                    continue  # it stands in no function: a default
                parts.setdefault(part.origin.value, []).append(LengthUse(part, table, picks, asked))
    return {value: sorted(of, key=lambda use: not use.picks) for value, of in parts.items()}


def offset_of(part: Term) -> int | None:
    """The whole number that a sum adds to another operand, or a difference takes away; None for other sums."""
    if not part.is_sum:
        return None
    left, right = map(_whole, part.operands)
    if right is not None and left is None:
        return -right if part.kind is LengthKind.DIFFERENCE else right
    return left if left is not None and right is None and part.kind is LengthKind.SUM else None


def base_of(part: Term) -> tuple[Atoms, Value]:
    """The operand that a whole number is added to, and its expression."""
    at = 0 if _whole(part.operands[0]) is None else 1
    return part.operands[at], part.origin.value.args[at]


def is_run_time(atoms: Atoms) -> bool:
    """True if a number is known only at run time: a dimension, a position, an argument."""
    return any(isinstance(atom, SymbolicInput) or (isinstance(atom, Term) and _is_of_a_run(atom)) for atom in atoms)


def _is_of_a_run(term: Term) -> bool:
    for part in term.parts():
        is_quotient = part.kind is LengthKind.QUOTIENT and measured(part.operands[0]) is LengthKind.COUNT
        if part.kind in _MEASURED or is_quotient or any(isinstance(atom, SymbolicInput) for atom in part.numbers()):
            return True
    return False


def measured(atoms: Atoms) -> LengthKind | None:
    """COUNT if a number counts something, LARGEST if it is the largest position; None if neither or both."""
    parts = (part for atom in atoms if isinstance(atom, Term) for part in atom.parts())
    found = {_MEASURED[part.kind] for part in parts if part.kind in _MEASURED}
    return found.pop() if len(found) == 1 else None


def mixed_extreme(part: Term) -> Term | None:
    """The `max(length, position)` inside of `max(length, position) + 1`."""
    found = (a for a in base_of(part)[0] if isinstance(a, Term) and a.kind is LengthKind.MAXIMUM)
    return next((a for a in found if {LengthKind.COUNT, LengthKind.LARGEST} <= set(map(measured, a.operands))), None)


def is_meant(use: LengthUse, offset: int) -> bool:
    """True if the number belongs to the length of a table.

    That is so of a table that is applied as a whole to something as long, that is enlarged once it is known to be too
    short, or whose positions are moved by the same number (OPT and BART add 2).
    """
    if use.asked.is_fitting(use.table) or not use.asked.exceeding(use.table).isdisjoint(base_of(use.part)[0]):
        return True
    parts = (part for picked in use.picks for atom in picked.ids if isinstance(atom, Term) for part in atom.parts())
    return any(abs(offset_of(part) or 0) == abs(offset) for part in parts)


def takes_last(use: LengthUse) -> bool:
    """True if a length is the last element of the very ids that index the table, plus 1."""
    last = [term for term in _leaves(use.part) if term.kind is LengthKind.LAST and _is_of_rows(term)]
    of = {atom for term in last for atom in term.operands[0] if isinstance(atom, SymbolicInput)}
    return any(not of.isdisjoint(picked.ids) for picked in use.picks)


def _is_of_rows(last: Term) -> bool:
    """True if the last element of each row is taken: `ids[:, -1]`."""
    return last.origin.value.args[1].op is Op.TUPLE


def competes(use: LengthUse) -> bool:
    """True if the part is in a `max` with a number of tokens: packed positions stay below that."""
    part = use.part
    for term in use.table.length.parts():
        if term.is_extreme:
            beside = [atoms for atoms in term.operands if not any(part in _within(atom) for atom in atoms)]
            if len(beside) < len(term.operands) and any(measured(atoms) is LengthKind.COUNT for atoms in beside):
                return True
    return False


def _within(atom: object) -> Iterator[Term]:
    return atom.parts() if isinstance(atom, Term) else iter(())


def _leaves(term: Term) -> Iterator[Term]:
    """The lengths that a length is calculated from; the largest of some is one of them."""
    pending, seen = list(term.parts()), set(term.parts())
    for part in pending:
        if part.kind is LengthKind.LARGEST:
            inner = (each for atom in part.operands[0] if isinstance(atom, Term) for each in atom.parts())
            pending += [each for each in inner if each not in seen]
            seen.update(pending)
        elif not part.is_sum and not part.is_extreme:
            yield part


def _whole(atoms: Atoms) -> int | None:
    size = size_of(atoms)
    return None if size is None else size.constant
