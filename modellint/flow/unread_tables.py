"""Position tables that a function gets from an argument whose class cannot be read.

Such a function replaces a method of a library's class, and its `self` makes two tables of a given length. They are
position tables if rows of both are picked by positions, or if positions meet both in a call and the length is
computed from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import Site, SymbolicInput
from modellint.flow.length_terms import LengthKind, Passed, PickedRows, SizedTable, Term
from modellint.flow.runs import called
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.length_terms import FunctionTables
    from modellint.flow.lengths import Lengths
    from modellint.graph.python import Function
    from modellint.graph.value import Value

#: How many tables a call returns, what positions may be, and names of operators that return the largest element.
_TABLES = 2
_POSITIONS = frozenset((Op.PARAM, Op.ATTR, Op.CALL, Op.CHOICE, Op.INDEX))
_LARGEST = operators.words("largest")


def asking(function: Function) -> list[Value]:
    """The calls of a plain function that may get two tables from an argument: their result is unpacked in two."""
    if function.owner is not None:
        return []
    calls = [event.value for event in function.flow.unpackings if _may_ask(event.value, event.target)]
    return [call for call in calls if any(_may_matter(use, function) for _, use in _meetings(call, function))]


def note(calls: list[Value], asked: FunctionTables, run: Interpreter, lengths: Lengths) -> None:
    """Record the tables that `calls` return, and where positions meet them."""
    for reference, frame in called(asked.function, {}, run.project):
        body = run.body(reference, frame)
        for call in calls:
            for argument in call.args[1:]:
                for length in lengths.lookups.evaluated(argument, body):
                    if isinstance(length, Term):
                        _note_table(call, argument, length, asked, body, lengths)


def _note_table(
    call: Value, argument: Value, length: Term, asked: FunctionTables, frame: Frame, lengths: Lengths
) -> None:
    """Record a table if positions meet it."""
    function = asked.function
    for positions, use in _meetings(call, function):
        ids = lengths.lookups.evaluated(positions, frame)
        if use.op is not Op.INDEX and not _is_made_of(length, ids):
            continue
        asked.picked[length, positions, use] = PickedRows(
            (length,), ids, Site(positions, function), Site(use, function), ()
        )
        passed = Passed(Site(argument, function), frozenset())
        asked.sized[length, call] = SizedTable(
            length, Site(call, function), {Site(call, function): passed}, frozenset()
        )


def _may_ask(call: Value, parts: Value | None) -> bool:
    if call.op is not Op.CALL or parts is None or len(parts.args) != _TABLES or len(call.args) == 1:
        return False
    return call.callee.op is Op.ATTR and call.callee.args[0].op is Op.PARAM


def _may_matter(use: Value, function: Function) -> bool:
    """True if `use` indexes the tables, or a function of the file may compute the length from the largest position."""
    return use.op is Op.INDEX or any(not _LARGEST.isdisjoint(one.words) for one in function.module.all_functions())


def _meetings(table: Value, function: Function) -> Iterator[tuple[Value, Value]]:
    """Where both tables are used together: (index, look-up) for rows of both, (argument, call) for calls with both."""
    picked: dict[Value, set[object]] = {}
    for event in function.flow.events:
        value = event.value
        if event.kind is EventKind.INDEX and _is_part(value.args[0], table) and value.args[1].op in _POSITIONS:
            parts = picked.setdefault(value.args[1], set())
            parts.add(value.args[0].data)
            if len(parts) == _TABLES:
                yield value.args[1], value
        elif event.kind is EventKind.CALL and sum(_is_part(arg, table) for arg in value.args[1:]) == _TABLES:
            yield from ((arg, value) for arg in value.args[1:] if arg.op is Op.PARAM)


def _is_part(value: Value, table: Value) -> bool:
    return value.op is Op.UNPACK and value.args[0] is table


def _is_made_of(length: Term, ids: Atoms) -> bool:
    """True if a length is computed from the largest, or the last, element of an argument."""
    given = {atom for atom in ids if isinstance(atom, SymbolicInput)}
    pending, seen = [length], {length}
    for term in pending:
        for atom in (atom for atoms in term.operands for atom in atoms):
            if term.kind in (LengthKind.LARGEST, LengthKind.LAST) and atom in given:
                return True
            if isinstance(atom, Term) and atom not in seen:
                seen.add(atom)
                pending.append(atom)
    return False
