"""The quantities that lengths of rotary tables count: the current input, or the keys, the cached ones among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Constant, Length, SymbolicInput, Tensor, Unknown
from modellint.flow.length_terms import LengthKind, Term

if TYPE_CHECKING:
    from modellint.flow.domain import Atom
    from modellint.flow.length_terms import FunctionTables, PickedRows


def is_current_length(length: Length, asked: FunctionTables) -> bool:
    """True if a length is that of the current input: it includes no cached past and no position."""
    if not isinstance(length, Term):
        return False
    if length.is_extreme:
        return all(
            is_current_length(atom, asked) for atoms in length.operands for atom in atoms if isinstance(atom, Length)
        )
    return length.kind is LengthKind.COUNT and not any(_is_past(atom, asked) for atom in length.operands[0])


def _is_past(atom: Atom, asked: FunctionTables) -> bool:
    """True if a value is, or contains, keys and values kept from earlier calls."""
    if isinstance(atom, Tensor):
        return atom.extent is not None and atom.extent.is_grown
    return isinstance(atom, SymbolicInput) and atom.parameter in asked.kept


def counts_keys(picked: PickedRows) -> bool:
    """True if each length counts keys, and one of them those of earlier calls as well."""
    terms = [length for length in picked.lengths if isinstance(length, Term)]
    if len(terms) < len(picked.lengths) or not all(map(_is_of_keys, terms)):
        return False
    return any(part.kind is LengthKind.SUM for term in terms for part in term.parts())


def _is_of_keys(term: Term) -> bool:
    """True if a length is a count, or the sum or the larger of some: no number is added, no position."""
    if term.kind in (LengthKind.COUNT, LengthKind.KEPT):
        return True
    if term.kind not in (LengthKind.SUM, LengthKind.MAXIMUM) or not any(
        isinstance(atom, Term) for atom in term.operands[0]
    ):
        return False
    return all(map(_is_of_key, term.numbers()))


def _is_of_key(atom: Atom) -> bool:
    """Like `_is_of_keys`, for an operand: an argument, or a value that cannot be read, may count a cache."""
    return (
        _is_of_keys(atom)
        if isinstance(atom, Term)
        else isinstance(atom, SymbolicInput | Unknown) or atom == Constant(None)
    )
