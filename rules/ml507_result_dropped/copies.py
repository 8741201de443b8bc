"""Statements that change a copy: an index by a mask or by a list of numbers makes a new tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.finding import Applicability, Edit, Fix
from modellint.flow import queries
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from modellint.graph.value import Value

#: Methods and functions whose result is a mask.
_MASKS = frozenset(
    f"{owner}.{name}"
    for name in (
        "bool eq ne gt ge lt le greater greater_equal less less_equal not_equal isnan isinf isfinite isin isclose "
        "logical_and logical_or logical_not logical_xor"
    ).split()
    for owner in ("torch", "torch.Tensor")
)
_OF_MASKS = frozenset("&|^")
#: Methods in place that an augmented assignment, or an assignment, says as well.
_ASSIGNMENTS = {"fill_": "=", "copy_": "=", "add_": "+=", "sub_": "-=", "mul_": "*=", "div_": "/="}


def changes_copy(call: queries.Call) -> bool:
    """True if a statement calls a method in place on an index that copies: `x[mask].fill_(0)`, `x[[0, 2]].zero_()`."""
    callee = call.value.callee
    if callee.op is not Op.ATTR or call.event.handled or "out" in call.value.data:
        return False
    name, index = str(callee.data), callee.args[0]
    is_in_place = name.endswith("_") and not name.endswith("__") and name in operators.methods("Tensor")
    if not is_in_place or index.op is not Op.INDEX or index.target is not None:
        return False
    parts = index.args[1].args if index.args[1].op is Op.TUPLE else index.args[1:2]
    return any(_copies(part, call) for part in parts)


def _copies(part: Value, call: queries.Call) -> bool:
    """True if a part of an index is a list of numbers, or a mask on every path."""
    operand = queries.Operand(part, call.function, call.project)

    def are_copying(leaves: Iterable[queries.Operand]) -> bool | None:
        found = {leaf.part is None and _is_copying(leaf, is_tensor=leaf.value is not part) for leaf in leaves}
        return True if found == {True} else None

    return operand.conclude(are_copying, through_operators=True) is not None


def _is_copying(leaf: queries.Operand, *, is_tensor: bool = False) -> bool:
    """True for a list of numbers, and for a mask; a comparison is one if it, or what it compares, `is_tensor`."""
    value = leaf.value
    if value.op is Op.LIST:
        return bool(value.args) and all(one.op is Op.CONST and type(one.data) in (int, bool) for one in value.args)
    if value.op is Op.COMPARE:
        return is_tensor or any(leaf.of(one).is_tensor for one in value.args)
    if value.op is Op.UNARY and value.data == "~":
        return _is_copying(leaf.of(value.args[0]), is_tensor=is_tensor)
    if value.op is Op.BIN and value.data in _OF_MASKS:
        return any(_is_copying(leaf.of(one), is_tensor=is_tensor) for one in value.args)
    return leaf.is_call_of(_MASKS)


def assignment_fix(call: queries.Call) -> Fix | None:
    """`x[mask] = 0` in the place of `x[mask].fill_(0)`, `x[mask] *= 2` in that of `x[mask].mul_(2)`."""
    value, callee = call.value, call.value.callee
    index = queries.Operand(callee.args[0], call.function, call.project).text
    if callee.data == "zero_" and not value.args[1:]:
        operator, given = "=", "0"
    elif callee.data in _ASSIGNMENTS and len(value.args) == 2 and value.positional:
        operator, given = _ASSIGNMENTS[str(callee.data)], call.module.text_of(value.positional[0])
    else:
        return None
    return Fix("Assign to the index", Applicability.UNSAFE, (Edit(call.place, f"{index} {operator} {given}"),))
