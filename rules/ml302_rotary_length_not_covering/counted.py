"""The quantities that lengths of rotary tables count: the current input, or the keys, the cached ones among them."""

from __future__ import annotations

from modellint.flow import queries


def is_current_length(length: queries.Length, asked: queries.FunctionTables) -> bool:
    """True if a length is that of the current input: it includes no cached past and no position."""
    if not isinstance(length, queries.Term):
        return False
    if length.is_extreme:
        lengths = (atom for atoms in length.operands for atom in atoms if isinstance(atom, queries.Length))
        return all(is_current_length(one, asked) for one in lengths)
    return length.kind is queries.LengthKind.COUNT and not any(_is_past(atom, asked) for atom in length.operands[0])


def _is_past(atom: queries.Atom, asked: queries.FunctionTables) -> bool:
    """True if a value is, or contains, keys and values kept from earlier calls."""
    if isinstance(atom, queries.Tensor):
        return atom.extent is not None and atom.extent.is_grown
    return isinstance(atom, queries.SymbolicInput) and atom.parameter in asked.kept


def counts_keys(picked: queries.PickedRows) -> bool:
    """True if each length counts keys, and one of them those of earlier calls as well."""
    terms = [length for length in picked.lengths if isinstance(length, queries.Term)]
    if len(terms) < len(picked.lengths) or not all(map(_is_of_keys, terms)):
        return False
    return any(part.kind is queries.LengthKind.SUM for term in terms for part in term.parts())


def _is_of_keys(term: queries.Term) -> bool:
    """True if a length is a count, or the sum or the larger of some: no number is added, no position."""
    if term.kind.measured is queries.LengthKind.COUNT:
        return True
    is_joined = term.kind in (queries.LengthKind.SUM, queries.LengthKind.MAXIMUM)
    return is_joined and any(queries.terms_in(term.operands[0])) and all(map(_is_of_key, term.numbers()))


def _is_of_key(atom: queries.Atom) -> bool:
    """Like `_is_of_keys`, for an operand: an argument, or a value that cannot be read, may count a cache."""
    if isinstance(atom, queries.Term):
        return _is_of_keys(atom)
    return isinstance(atom, queries.SymbolicInput | queries.Unknown) or atom == queries.Constant(None)
