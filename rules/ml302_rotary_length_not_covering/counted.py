"""What the lengths of rotary tables count: the current input, or the keys, the cached ones among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Constant, Length, SymbolicInput, Tensor, Unknown
from modellint.flow.length_terms import LengthKind, Term

if TYPE_CHECKING:
    from modellint.flow.domain import Atom
    from modellint.flow.length_terms import FunctionTables, PickedRows


def is_current_length(length: Length, asked: FunctionTables) -> bool:
    """Whether a length is how long the current input is: no past is added, no position looked at."""
    if not isinstance(length, Term):
        return False
    if length.is_extreme:
        return all(
            is_current_length(atom, asked) for atoms in length.operands for atom in atoms if isinstance(atom, Length)
        )
    return length.kind is LengthKind.COUNT and not any(_is_past(atom, asked) for atom in length.operands[0])


def _is_past(atom: Atom, asked: FunctionTables) -> bool:
    """Whether a value is, or contains, keys and values kept from earlier calls."""
    if isinstance(atom, Tensor):
        return atom.extent is not None and atom.extent.is_grown
    return isinstance(atom, SymbolicInput) and atom.parameter in asked.kept


def counts_keys(picked: PickedRows) -> bool:
    """Whether every length is how many keys there are, and one of them counts those of earlier calls, too."""
    terms = [length for length in picked.lengths if isinstance(length, Term)]
    if len(terms) < len(picked.lengths) or not all(map(_is_of_keys, terms)):
        return False
    return any(part.kind is LengthKind.SUM for term in terms for part in term.parts())


def _is_of_keys(term: Term) -> bool:
    """Whether a length is counted, or the sum or the larger one of some that are: no number is added, no position."""
    if term.kind in (LengthKind.COUNT, LengthKind.KEPT):
        return True
    if term.kind not in (LengthKind.SUM, LengthKind.MAXIMUM) or not any(
        isinstance(atom, Term) for atom in term.operands[0]
    ):
        return False
    return all(map(_is_of_key, term.numbers()))


def _is_of_key(atom: Atom) -> bool:
    """The same of what is added: what is given, or cannot be read, may be how many a cache has."""
    return (
        _is_of_keys(atom)
        if isinstance(atom, Term)
        else isinstance(atom, SymbolicInput | Unknown) or atom == Constant(None)
    )
