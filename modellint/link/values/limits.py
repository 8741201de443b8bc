"""Conditions that elements are compared in before they are looked up, and what subscripts leave of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Op, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Guard

#: What compares elements, rather than asking what something is.
_COMPARED = frozenset(("<", "<=", ">", ">=", "in", "not in", "==", "!="))
#: What tells the form of a tensor and nothing of its elements.
_FORM = frozenset(("training", "config", "numel")) | operators.attributes("Tensor", "gives")
_FORM |= operators.methods("Tensor", "gives:size", "gives:int", "gives:bool", "gives:tuple")


def is_tested(guard: Guard | None, index: Value) -> bool:
    """Whether a condition of `guard` compares the elements of `index`, or of what it is made from."""
    parts = parts_of(index)
    return any(
        test.op is Op.COMPARE and test.data in _COMPARED and is_about(test, parts)
        for condition in (guard.chain() if guard is not None else ())
        for test in condition.test.walk()
    )


def parts_of(value: Value) -> dict[int, Value]:
    return {id(part): part for part in value.walk() if part.op is not Op.CONST}


def is_about(compare: Value, parts: dict[int, Value]) -> bool:
    """Whether a comparison is about one of the parts: itself, its maximum, or the same element of it."""
    for arg in compare.args:
        for value in compared(arg):
            if id(value) in parts:
                return True
            if value.op is Op.INDEX and any(_same_element(value, part) for part in parts.values()):
                return True
    return False


def _same_element(value: Value, other: Value) -> bool:
    return (
        other.op is Op.INDEX
        and value.args[0] is other.args[0]
        and value.args[1].op is other.args[1].op is Op.CONST
        and value.args[1].data == other.args[1].data
    )


def compared(value: Value) -> Iterator[Value]:
    """What a comparison is about: the value itself, or what it takes the maximum or minimum of.

    One element of several (`ids[0]`) speaks only for itself, and a shape not of elements at all.
    """
    while True:
        if value.op is Op.PARAM and value.data == "self":
            return
        if value.op is Op.ATTR and (value.data in _FORM or len(value.args) > 1):
            if value.data not in _FORM:
                yield value.args[1]
            return
        yield value
        if value.op is Op.CALL and value.callee.op is not Op.ATTR:
            if value.callee.data != "len":
                yield from value.positional
            return
        if value.op not in (Op.CALL, Op.ATTR):
            return
        value = value.args[0]


def is_comparison(value: Value) -> bool:
    """Whether a value is a mask that is made by comparing."""
    return value.op is Op.COMPARE or (value.op is Op.CALL and value.callee.data in _COMPARING)


def has_comparison(value: Value) -> bool:
    """Whether a mask or a subscript is made by comparing, here or where it was assigned."""
    return any(is_comparison(part) for part in value.walk())


def cuts(index: Value) -> bool:
    """Whether a subscript has a slice that may leave elements out."""
    return any(part.op is Op.SLICE and not _is_whole(part) for part in _subscripts(index))


def leaves_some(index: Value) -> bool:
    """Whether an assignment to a subscript surely leaves other elements as they were, however often it runs.

    It does for a constant element (`x[:, 0]`) and for a slice that keeps one end (`x[row, :length]`).
    """
    return any(_keeps_an_end(part) or part.op in (Op.CONST, Op.UNARY) for part in _subscripts(index))


def is_overwritten(choice: Value) -> bool:
    """Whether a loop assigns to elements of what it carries so that it may have filled all of it in the end."""
    seen = {id(choice)}
    queue = list(choice.args)
    for value in queue:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if value.op is Op.UPDATE:
            if value.data == "[]=" and not leaves_some(value.args[1]):
                return True
            queue.append(value.args[0])
        elif value.op is Op.CHOICE:
            queue.extend(value.args)
    return False


def _subscripts(index: Value) -> tuple[Value, ...]:
    parts = index.args if index.op is Op.TUPLE else (index,)
    return tuple(part for part in parts if not (part.op is Op.CONST and part.data in (None, Ellipsis)))


def _is_whole(part: Value) -> bool:
    return all(arg.op is Op.CONST and arg.data is None for arg in part.args)


def _keeps_an_end(part: Value) -> bool:
    if part.op is not Op.SLICE or _is_whole(part):
        return False
    return part.args[0].op is Op.CONST or all(arg.op is Op.CONST for arg in part.args)


def tests_none(test: Value | None, parameter: str | None) -> bool:
    """Whether a branch only asks if a parameter was given."""
    return (
        test is not None
        and test.op is Op.COMPARE
        and test.data in ("is", "is not")
        and test.args[0].op is Op.PARAM
        and test.args[0].data == parameter
    )


def tests_another(choice: Value) -> bool:
    """Whether a branch only asks if a parameter was given, and the parameter is none of the values to choose from."""
    test = choice.data
    if test is None or test.op is not Op.COMPARE or not tests_none(test, test.args[0].data):
        return False
    return all(arg is not test.args[0] for arg in choice.args)


def counts_up(left: Value, right: Value) -> bool:
    """`mask.cumsum(-1) - 1`: the position of each element among those that a mask keeps."""
    is_sum = left.op is Op.CALL and left.callee.data == "cumsum"
    return is_sum and right.op is Op.CONST and right.data == 1


def is_default(choice: Value, position: int, function: Function) -> bool:
    """Whether a branch is taken when a parameter that is None by default is left out."""
    test = choice.data
    if test is None or test.op is not Op.COMPARE or not tests_none(test, test.args[0].data):
        return False
    parameter = function.parameter(str(test.args[0].data))
    default = None if parameter is None else parameter.default
    taken = 0 if test.data == "is" else 1
    return default is not None and default.op is Op.CONST and default.data is None and position == taken


_COMPARING = operators.words("dtype:bool same-shape") | {"index"}
