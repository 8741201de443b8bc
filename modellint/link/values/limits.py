"""Conditions that elements are compared in before they are looked up, and what subscripts leave of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import Op, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def tests_none(test: Value | None, parameter: str | None) -> bool:
    """Whether a branch only asks if a parameter was given."""
    return (
        test is not None
        and test.op is Op.COMPARE
        and test.data in ("is", "is not")
        and test.args[0].op is Op.PARAM
        and test.args[0].data == parameter
    )


def counts_up(left: Value, right: Value) -> bool:
    """`mask.cumsum(-1) - 1`: the position of each element among those that a mask keeps."""
    is_sum = left.op is Op.CALL and left.callee.data == "cumsum"
    return is_sum and right.op is Op.CONST and right.data == 1


_COMPARING = operators.words("dtype:bool same-shape") | {"index"}
