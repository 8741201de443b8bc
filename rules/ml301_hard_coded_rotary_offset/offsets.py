"""Whole numbers that are added to the lengths of position tables, and the quantities that these lengths measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.value import Value


@dataclass(frozen=True, eq=False, slots=True)
class LengthUse:
    """A part of a length, with its table and the places that pick rows of the table."""

    part: queries.Term
    table: queries.SizedTable
    picks: list[queries.PickedRows]
    asked: queries.FunctionTables


def uses(found: Iterable[queries.FunctionTables]) -> dict[Value, list[LengthUse]]:
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


def offset_of(part: queries.Term) -> int | None:
    """The whole number that a sum adds to another operand, or a difference takes away; None for other sums."""
    if not part.is_sum:
        return None
    left, right = map(_whole, part.operands)
    if right is not None and left is None:
        return -right if part.kind is queries.LengthKind.DIFFERENCE else right
    return left if left is not None and right is None and part.kind is queries.LengthKind.SUM else None


def base_of(part: queries.Term) -> tuple[queries.Atoms, Value]:
    """The operand that a whole number is added to, and its expression."""
    at = 0 if _whole(part.operands[0]) is None else 1
    return part.operands[at], part.origin.value.args[at]


def is_run_time(atoms: queries.Atoms) -> bool:
    """True if a number is known only at run time: a dimension, a position, an argument."""
    return any(
        isinstance(atom, queries.SymbolicInput) or (isinstance(atom, queries.Term) and _is_of_a_run(atom))
        for atom in atoms
    )


def _is_of_a_run(term: queries.Term) -> bool:
    for part in term.parts():
        is_quotient = part.kind is queries.LengthKind.QUOTIENT
        if part.kind.measured or (is_quotient and measured(part.operands[0]) is queries.LengthKind.COUNT):
            return True
        if any(isinstance(atom, queries.SymbolicInput) for atom in part.numbers()):
            return True
    return False


def measured(atoms: queries.Atoms) -> queries.LengthKind | None:
    """COUNT if a number counts something, LARGEST if it is the largest position; None if neither or both."""
    found = {kind for part in queries.terms_in(atoms) if (kind := part.kind.measured) is not None}
    return found.pop() if len(found) == 1 else None


def mixed_extreme(part: queries.Term) -> queries.Term | None:
    """The `max(length, position)` inside of `max(length, position) + 1`."""
    found = (a for a in base_of(part)[0] if isinstance(a, queries.Term) and a.kind is queries.LengthKind.MAXIMUM)
    both = {queries.LengthKind.COUNT, queries.LengthKind.LARGEST}
    return next((one for one in found if both <= set(map(measured, one.operands))), None)


def is_meant(use: LengthUse, offset: int) -> bool:
    """True if the number belongs to the length of a table.

    That is so of a table that is applied as a whole to something as long, that is enlarged once it is known to be too
    short, or whose positions are moved by the same number (OPT and BART add 2).
    """
    if use.asked.is_fitting(use.table) or not use.asked.exceeding(use.table).isdisjoint(base_of(use.part)[0]):
        return True
    parts = (part for picked in use.picks for part in queries.terms_in(picked.ids))
    return any(abs(offset_of(part) or 0) == abs(offset) for part in parts)


def takes_last(use: LengthUse) -> bool:
    """True if a length is the last element of the very ids that index the table, plus 1."""
    last = [term for term in _leaves(use.part) if term.kind is queries.LengthKind.LAST and _is_of_rows(term)]
    of = {atom for term in last for atom in term.operands[0] if isinstance(atom, queries.SymbolicInput)}
    return any(not of.isdisjoint(picked.ids) for picked in use.picks)


def _is_of_rows(last: queries.Term) -> bool:
    """True if the last element of each row is taken: `ids[:, -1]`."""
    return last.origin.value.args[1].op is Op.TUPLE


def competes(use: LengthUse) -> bool:
    """True if the part is in a `max` with a number of tokens: packed positions stay below that."""
    part = use.part
    for term in use.table.length.parts():
        if term.is_extreme:
            beside = [atoms for atoms in term.operands if part not in queries.terms_in(atoms)]
            if len(beside) < len(term.operands) and queries.LengthKind.COUNT in map(measured, beside):
                return True
    return False


def _leaves(term: queries.Term) -> Iterator[queries.Term]:
    """The lengths that a length is calculated from; the largest of some is one of them."""
    pending, seen = list(term.parts()), set(term.parts())
    for part in pending:
        if part.kind is queries.LengthKind.LARGEST:
            pending += [each for each in queries.terms_in(part.operands[0]) if each not in seen]
            seen.update(pending)
        elif not part.is_sum and not part.is_extreme:
            yield part


def _whole(atoms: queries.Atoms) -> int | None:
    size = queries.size_of(atoms)
    return None if size is None else size.constant
