"""The quantities that lengths of rotary tables count: the current input, or the keys, the cached ones among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, called_name, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Value


def is_current_length(length: queries.Length, asked: queries.FunctionTables) -> bool:
    """True if a length is that of the current input: it includes no cached past and no position."""
    if not isinstance(length, queries.Term):
        return False
    if length.is_extreme:
        lengths = (atom for atoms in length.operands for atom in atoms if isinstance(atom, queries.Length))
        return all(is_current_length(one, asked) for one in lengths)
    return length.kind is queries.LengthKind.COUNT and not any(_is_past(atom, asked) for atom in length.operands[0])


def is_in_passed_keywords(picked: queries.PickedRows, asked: queries.FunctionTables) -> bool:
    """True if the ids are one of the keywords that a function passes on to code that may continue earlier calls.

    The table is as long as the current input.
    """
    function, name = asked.function, picked.parameter
    parameter = None if name is None else function.parameter(name)
    if parameter is None or parameter.kind != "var-keyword":
        return False
    if not all(is_current_length(length, asked) for length in picked.lengths):
        return False
    calls = (event.value for event in function.flow.of(EventKind.CALL))
    passed = (arg for call in calls if call.data and None in call.data for arg in call.args[-len(call.data) :])
    return any(_base(arg).op is Op.PARAM and _base(arg).data == name for arg in passed)


def _base(value: Value) -> Value:
    """The value whose entries others have changed: the parameter of `kwargs["ids"] = …`."""
    while value.op is Op.UPDATE:
        value = value.args[0]
    return value


def cut_to_limit(table: queries.SizedTable, asked: queries.FunctionTables) -> bool:
    """True if a table is as long as the current input, but no longer than a limit to which nothing cuts the input."""
    least, function = table.length, table.length.origin.function
    if least.kind is not queries.LengthKind.MINIMUM or table.is_cut or function is not asked.function:
        return False
    if least not in asked.applied:
        return False
    counts = [one for atoms in least.operands for one in atoms if isinstance(one, queries.Term)]
    limits = [atoms for atoms in least.operands if not any(isinstance(one, queries.Length) for one in atoms)]
    is_one = len({one.origin for one in counts}) == 1 and len(limits) == 1
    if not is_one or not all(is_current_length(one, asked) for one in counts):
        return False
    places = (one.call() or one.use for one in asked.sized.values() if one.length is least)
    makers = {id(part) for place in places for part in _chain(place.value)}
    return not _uses_otherwise(least.origin.value, counts[0], function, makers)


def is_short_of_keys(table: queries.SizedTable, asked: queries.FunctionTables) -> bool:
    """True if a table is as long as the current input, and combined as a whole with keys of earlier calls too."""
    met = [lengths for lengths in asked.too_short if table.length in lengths]
    return bool(met) and all(is_current_length(one, asked) for lengths in met for one in lengths)


def _chain(value: Value) -> Iterator[Value]:
    """A value, and those that it is a part of or a method's result: `freqs`, and its maker, of `freqs.cos()[None]`."""
    while value.args:
        yield value
        value = value.args[0].args[0] if value.op is Op.CALL and value.callee.op is Op.ATTR else value.args[0]


def _uses_otherwise(least: Value, count: queries.Term, function: Function, makers: set[int]) -> bool:
    """True if a function may cut something to the smaller length, itself or by a call, or compares the input's length.

    The calls `makers` make the table.
    """
    for event in function.flow.of(EventKind.CALL):
        rows = operators.called(called_name(event.value.callee))
        is_maker = id(event.value) in makers or any("counted" in row.facets for row in rows)
        if not is_maker and any(arg is least for arg in event.value.args[1:]):
            return True
    measured = _tensor_of(count.origin.value)
    for event in function.flow.events:
        tests = [event.value] if event.kind is EventKind.COMPARE else []
        if any(_tensor_of(part) is measured for test in tests for part in test.walk() if measured is not None):
            return True
    parts = walk_all(value for value in function.flow.values)
    bounds = (bound for part in parts if part.op is Op.SLICE for bound in part.args)
    return any(part is least for bound in bounds for part in bound.walk())


def _tensor_of(value: Value) -> Value | None:
    """The tensor that is measured: `x` of `x.shape[1]`, `x.size(1)`, `len(x)`; None for other values."""
    if value.op is Op.INDEX:
        value = value.args[0]
    if value.op is Op.ATTR and value.data == "shape":
        return value.args[0]
    if value.op is Op.CALL and called_name(value.callee) == "size" and value.callee.op is Op.ATTR:
        return value.callee.args[0]
    return value.args[1] if value.op is Op.CALL and called_name(value.callee) == "len" and value.args[1:] else None


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
