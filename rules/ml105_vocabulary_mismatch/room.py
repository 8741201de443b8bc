"""Tokens that are added while a table has room for them: `while model.vocab_size > len(tokenizer): …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import Op, called_name, same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value

#: The comparison that holds where each does not.
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
#: The argument that gives a table spare rows, up to a multiple.
_PADS = "pad_to_multiple_of"


def fills_room(event: Event, function: Function, resized: Value | None = None) -> bool:
    """True if a function adds tokens only up to a number that may be that of a table's rows.

    A number computed from the tokenizer is that of the table that `resized` makes if it is among the arguments, or if
    these ask for spare rows.
    """
    tokenizer = event.value.callee.args[0]
    is_padded = resized is not None and _PADS in resized.keywords
    told = [] if resized is None else [part for arg in resized.args[1:] for part in arg.walk()]
    for bound in _bounds(event, function, tokenizer):
        if bound is None or _mentions(bound, tokenizer):
            if is_padded or (bound is not None and any(part is bound for part in told)):
                return True
        elif not _is_written(bound, function):
            return True
    return False


def _is_written(number: Value, function: Function) -> bool:
    """True if a number is written in the file, and so is that of no table."""
    if number.op is Op.GLOBAL:
        known = function.module.constants.get(str(number.data))
        return known is not None and known is not number and _is_written(known, function)
    parts = number.args[number.op is Op.CALL and called_name(number.callee) == "int" :]
    return number.op is Op.CONST or (bool(parts) and all(_is_written(part, function) for part in parts))


def _bounds(event: Event, function: Function, tokenizer: Value) -> Iterator[Value | None]:
    """The numbers up to which tokens are added, by conditions or by their count; None for a multiple of a number."""
    for link in event.guard.chain() if event.guard is not None else ():
        for compare, operator in _comparisons(link.test, link.truthy):
            yield from _above(compare, operator, tokenizer)
    loops, at = function.flow.loops, function.flow.events.index(event)
    given = {id(part) for arg in event.value.args[1:] for part in arg.walk()}
    around = (loop for loop in loops if loop.first <= at < loop.last or id(loop.result) in given)
    counts = [over for loop in around for _, over in loop.turns]
    tests = [link.test for link in event.guard.chain()] if event.guard is not None else []
    for part in (part for value in (*event.value.args[1:], *counts, *tests) for part in value.walk()):
        if part.op is Op.BIN and part.data == "-" and _mentions(part.args[1], tokenizer):
            yield part.args[0]


def _comparisons(test: Value, truthy: bool) -> Iterator[tuple[Value, str]]:
    """The comparisons that hold where `test` comes out as `truthy`, each with the operator that holds."""
    if test.op is Op.COMPARE and test.data in _OPPOSITE:
        yield test, test.data if truthy else _OPPOSITE[test.data]
    elif test.op is Op.UNARY and test.data == "not":
        yield from _comparisons(test.args[0], not truthy)
    elif test.op is Op.BOOL and truthy is (test.data == "and"):
        for part in test.args:
            yield from _comparisons(part, truthy)


def _above(compare: Value, operator: str, tokenizer: Value) -> Iterator[Value | None]:
    """The bound of the number of tokens where a comparison holds; None for a multiple of some number."""
    left, right = compare.args
    for tokens, bound, below, up_to in ((left, right, "<", "<="), (right, left, ">", ">=")):
        if not _mentions(tokens, tokenizer):
            continue
        is_sum = tokens.op is Op.BIN and tokens.data == "+"  # with those that are added
        if tokens.op is Op.BIN and tokens.data == "%":
            yield None
        elif operator in (below, "!=") or (is_sum and operator == up_to):
            yield bound


def _mentions(value: Value, tokenizer: Value) -> bool:
    return any(part is tokenizer or same(part, tokenizer) for part in value.walk())
